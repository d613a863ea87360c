#pragma once
// A directory for the files of one job, readable by the user alone, removed at the end.

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace weft::boot {

class session_directory {
public:
  session_directory() : path_(std::filesystem::temp_directory_path() / "weft-XXXXXX") {
    // mkdtemp makes it with mode 0700.
    if (mkdtemp(path_.data()) == nullptr)
      throw std::system_error(errno, std::generic_category(), "cannot make " + path_);
  }
  ~session_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  session_directory(const session_directory&) = delete;
  session_directory& operator=(const session_directory&) = delete;

  const std::string& path() const { return path_; }

private:
  std::string path_;
};

} // namespace weft::boot
