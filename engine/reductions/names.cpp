// SPDX-License-Identifier: BSD-3-Clause
#include "engine/reductions/names.hpp"

#include "include/weft/type.h"

#include <iterator>

namespace weft::reductions {

namespace {

// In the order of reductions::operation.
constexpr const char* operators[] = {
    "UPC_ADD", "UPC_MULT", "UPC_AND",  "UPC_OR",           "UPC_XOR",         "UPC_LOGAND",     "UPC_LOGOR",
    "UPC_MIN", "UPC_MAX",  "UPC_FUNC", "UPC_NONCOMM_FUNC", "CRAY_UPC_MINLOC", "CRAY_UPC_MAXLOC"};
static_assert(std::size(operators) == operations);

// In the order of reductions::element.
constexpr const char* types[] = {"signed char",
                                 "unsigned char",
                                 "short",
                                 "unsigned short",
                                 "int",
                                 "unsigned",
                                 "long",
                                 "unsigned long",
                                 "float",
                                 "double",
                                 "long double",
                                 "long long",
                                 "unsigned long long",
                                 "float _Complex",
                                 "double _Complex",
                                 "long double _Complex",
                                 "_Bool",
                                 "float and int",
                                 "double and int",
                                 "long and int",
                                 "int and int",
                                 "short and int"};
static_assert(std::size(types) == elements);

// By the number of each; 0 is none.
constexpr const char* numbered_types[] = {"",
                                          "UPC_CHAR",
                                          "UPC_UCHAR",
                                          "UPC_SHORT",
                                          "UPC_USHORT",
                                          "UPC_INT",
                                          "UPC_UINT",
                                          "UPC_LONG",
                                          "UPC_ULONG",
                                          "UPC_LLONG",
                                          "UPC_ULLONG",
                                          "UPC_INT8",
                                          "UPC_UINT8",
                                          "UPC_INT16",
                                          "UPC_UINT16",
                                          "UPC_INT32",
                                          "UPC_UINT32",
                                          "UPC_INT64",
                                          "UPC_UINT64",
                                          "UPC_FLOAT",
                                          "UPC_DOUBLE",
                                          "UPC_LDOUBLE",
                                          "UPC_PTS",
                                          "WEFT_TYPE_BOOL",
                                          "WEFT_TYPE_CFLOAT",
                                          "WEFT_TYPE_CDOUBLE",
                                          "WEFT_TYPE_CLDOUBLE"};
static_assert(std::size(numbered_types) == WEFT_TYPE_CLDOUBLE + 1);

// By the number of its bit.
constexpr const char* bits[] = {"UPC_ADD",    "UPC_MULT",  "UPC_AND", "UPC_OR",  "UPC_XOR",
                                "UPC_LOGAND", "UPC_LOGOR", "UPC_MIN", "UPC_MAX", "UPC_GET",
                                "UPC_SET",    "UPC_CSWAP", "UPC_SUB", "UPC_INC", "UPC_DEC"};

} // namespace

const char* name_of(operation op) {
  const auto at = static_cast<std::size_t>(op);
  return at < std::size(operators) ? operators[at] : "?";
}

const char* name_of(element type) {
  const auto at = static_cast<std::size_t>(type);
  return at < std::size(types) ? types[at] : "the operator's own";
}

std::string name_of_type(int type) {
  const bool known = type > 0 && type < static_cast<int>(std::size(numbered_types));
  return known ? numbered_types[type] : std::to_string(type);
}

std::string names_of_operators(upc_op_t ops) {
  std::string text;
  const auto add = [&text](const std::string& name) {
    if (!text.empty()) text += '|';
    text += name;
  };
  for (std::size_t k = 0; k < std::size(bits); ++k)
    if ((ops >> k & 1) != 0) add(bits[k]);
  if (const upc_op_t rest = ops >> std::size(bits) << std::size(bits); rest != 0 || ops == 0)
    add(std::to_string(rest));
  return text;
}

} // namespace weft::reductions
