#pragma once
#include <string>

namespace weft::progress {

// Why nothing can be had from a rank any more, for the errors that name it: "thread 3 " and these words.
struct fate {
  std::string words = "has died";
  // Others may reach it still, and it them: then they must hear that operations with it and this rank fail.
  bool lives = false;
};

} // namespace weft::progress
