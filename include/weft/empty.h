// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/* WEFT_IS_EMPTY(...) is 1 if there is no argument and 0 if there is one, in plain C11. An argument is absent
 * if `weft_comma_ <argument> ()` is a call of the macro, and neither a parenthesis in front of the argument
 * nor a macro at its end made it one. */
#define WEFT_COMMA_(...) ,
#define WEFT_THIRD_(a, b, c, ...) c
#define WEFT_HAS_COMMA_(...) WEFT_THIRD_(__VA_ARGS__, 1, 0, 0)
#define WEFT_JOIN_(a, b, c) WEFT_JOIN_NOW_(a, b, c)
#define WEFT_JOIN_NOW_(a, b, c) WEFT_CASE_##a##b##c
#define WEFT_CASE_001 ,
#define WEFT_IS_EMPTY(...)                                                                                   \
  WEFT_HAS_COMMA_(WEFT_JOIN_(WEFT_HAS_COMMA_(WEFT_COMMA_ __VA_ARGS__), WEFT_HAS_COMMA_(__VA_ARGS__()),       \
                             WEFT_HAS_COMMA_(WEFT_COMMA_ __VA_ARGS__())))

/* WEFT_PICK(name, arguments) is name0(argument) or name1(). */
#define WEFT_PICK(name, ...) WEFT_PASTE_(name, WEFT_IS_EMPTY(__VA_ARGS__))
#define WEFT_PASTE_(a, b) WEFT_PASTE_NOW_(a, b)
#define WEFT_PASTE_NOW_(a, b) a##b
