#include "engine/operations/describe.hpp"

#include "engine/operations/all_kinds.hpp"

namespace weft::graph {

namespace {

std::string place(const operand& o) {
  const std::string_view in = name(o.in);
  return o.at <= in_mailbox ? std::string(in) : operations::words(in, " [", std::to_string(o.at), "]");
}

// Where that is not the usual: from the source to the destination, by a mailbox if it is a payload.
std::string operands_of(const node& n) {
  if (n.read.in == buffer::none) return "";
  const bool takes = n.what == kind::take, sends = n.what == kind::signal;
  const bool usual_read = n.read.in == (takes ? buffer::mailbox : buffer::source);
  const bool usual_write = n.write.in == (sends ? buffer::mailbox : buffer::destination);
  std::string text;
  if (n.of != blocks::one) text += operations::words(", ", name(n.of));
  if (!usual_read || (n.read.at > in_mailbox && !takes)) text += ", out of " + place(n.read);
  if (!usual_write || (n.write.at > in_mailbox && !sends)) text += ", into " + place(n.write);
  return text;
}

} // namespace

std::string describe(const node& n) {
  static constexpr auto texts = operations::all_kinds::table([]<class Kind>() { return &Kind::text; });
  std::string text = texts[static_cast<std::size_t>(n.what)](n);
  if (n.phase != 0) text += ", phase " + std::to_string(n.phase);
  text += operands_of(n);
  if (n.only != lane::any) text += n.only == lane::near ? ", if near" : ", if far";
  return text;
}

} // namespace weft::graph
