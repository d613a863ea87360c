// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// C++ types around PMIx's C values: lists of attributes, values handed out by PMIx_Get, and texts of errors.

#include "pmix_boot/client/job.hpp"

#include <cstdint>
#include <optional>
#include <pmix_common.h>
#include <string>
#include <string_view>

namespace weft::boot {

// How the namespaces of this project's own launcher begin. All its ranks are on one host.
inline constexpr const char* own_launcher = "weft-";
// What it adds to the environment of its ranks: the number of ranks and the namespace of the job. The name
// makes the variable go where the names of a job go.
inline constexpr std::string_view started_by_us = "PMIX_WEFT_JOB=";

// What is said of a rank's second program.
inline constexpr const char* joins_once = "a rank joins a job once; give each program a launch of its own, "
                                          "as in weft run -n N ./a && weft run -n N ./b";

std::string pmix_text(pmix_status_t status);

// Throws boot_error "what: PMIx's text" for anything but success.
void require_success(pmix_status_t status, const std::string& what);

// Launchers publish the same key with different widths: any integer type is a number, anything else is not.
std::optional<std::uint64_t> as_number(const pmix_value_t& value);

// A string, unless the value is of another type or a null pointer (which some launchers publish with
// success).
std::optional<std::string> as_string(const pmix_value_t& value);

pmix_proc_t process_name(const std::string& nspace, pmix_rank_t rank);

// Owns an array of attributes while it is being built and while PMIx reads it; values are copied in.
class info_array {
public:
  info_array();
  ~info_array();
  info_array(const info_array&) = delete;
  info_array& operator=(const info_array&) = delete;

  info_array& add(const char* key, bool value);
  info_array& add(const char* key, std::uint16_t value);
  info_array& add(const char* key, std::uint32_t value);
  info_array& add(const char* key, const char* value) = delete;
  info_array& add(const char* key, const std::string& value);
  info_array& add(const char* key, const pmix_proc_t& value);
  info_array& add(const char* key, const info_array& nested);
  info_array& add_seconds(const char* key, int value);
  info_array& add_rank(const char* key, pmix_rank_t value);
  info_array& add_pointer(const char* key, void* value);
  // The output of PMIx_generate_regex and PMIx_generate_ppn is of a type of its own.
  info_array& add_regex(const char* key, char* value);

  pmix_info_t* data() const;
  std::size_t size() const;

private:
  info_array& append(const char* key, const void* value, pmix_data_type_t type);
  const pmix_data_array_t& array() const;

  void* list_;
  mutable pmix_data_array_t array_;
  mutable bool converted_ = false;
};

// A value that PMIx allocated.
class owned_value {
public:
  explicit owned_value(pmix_value_t* value) : value_(value) {}
  ~owned_value();
  owned_value(const owned_value&) = delete;
  owned_value& operator=(const owned_value&) = delete;

  const pmix_value_t& operator*() const { return *value_; }
  const pmix_value_t* operator->() const { return value_; }

private:
  pmix_value_t* value_;
};

// Of the PMIx library that this process has loaded.
const char* pmix_version();

} // namespace weft::boot
