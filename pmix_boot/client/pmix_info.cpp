// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/client/pmix_info.hpp"

#include <cstdlib>
#include <cstring>
#include <pmix.h>

namespace weft::boot {

std::string pmix_text(pmix_status_t status) {
  return std::string(PMIx_Error_string(status)) + " (" + std::to_string(status) + ")";
}

void require_success(pmix_status_t status, const std::string& what) {
  if (status != PMIX_SUCCESS) throw boot_error(what + ": " + pmix_text(status));
}

std::optional<std::uint64_t> as_number(const pmix_value_t& value) {
  pmix_status_t status;
  std::uint64_t number = 0;
  if (value.type == PMIX_FLOAT || value.type == PMIX_DOUBLE) return std::nullopt;
  PMIX_VALUE_GET_NUMBER(status, &value, number, std::uint64_t);
  if (status != PMIX_SUCCESS) return std::nullopt;
  return number;
}

std::optional<std::string> as_string(const pmix_value_t& value) {
  if (value.type != PMIX_STRING || value.data.string == nullptr) return std::nullopt;
  return value.data.string;
}

pmix_proc_t process_name(const std::string& nspace, pmix_rank_t rank) {
  pmix_proc_t name{};
  nspace.copy(name.nspace, PMIX_MAX_NSLEN);
  name.rank = rank;
  return name;
}

info_array::info_array() : list_(PMIx_Info_list_start()) {}

info_array::~info_array() {
  if (converted_) PMIX_DATA_ARRAY_DESTRUCT(&array_);
  PMIx_Info_list_release(list_);
}

info_array& info_array::append(const char* key, const void* value, pmix_data_type_t type) {
  require_success(PMIx_Info_list_add(list_, key, value, type), std::string("attribute ") + key);
  return *this;
}

info_array& info_array::add(const char* key, bool value) {
  return append(key, &value, PMIX_BOOL);
}
info_array& info_array::add(const char* key, std::uint16_t value) {
  return append(key, &value, PMIX_UINT16);
}
info_array& info_array::add(const char* key, std::uint32_t value) {
  return append(key, &value, PMIX_UINT32);
}
info_array& info_array::add(const char* key, const std::string& value) {
  return append(key, value.c_str(), PMIX_STRING);
}
info_array& info_array::add(const char* key, const pmix_proc_t& value) {
  return append(key, &value, PMIX_PROC);
}
info_array& info_array::add(const char* key, const info_array& nested) {
  return append(key, &nested.array(), PMIX_DATA_ARRAY);
}
info_array& info_array::add_seconds(const char* key, int value) {
  return append(key, &value, PMIX_INT);
}
info_array& info_array::add_rank(const char* key, pmix_rank_t value) {
  return append(key, &value, PMIX_PROC_RANK);
}
info_array& info_array::add_pointer(const char* key, void* value) {
  return append(key, value, PMIX_POINTER);
}
info_array& info_array::add_regex(const char* key, char* value) {
  return append(key, value, PMIX_REGEX);
}

const pmix_data_array_t& info_array::array() const {
  if (!converted_) {
    const pmix_status_t status = PMIx_Info_list_convert(list_, &array_);
    // An empty list is reported, not converted.
    if (status == PMIX_ERR_EMPTY)
      array_ = {PMIX_INFO, 0, nullptr};
    else
      require_success(status, "list of attributes");
    converted_ = true;
  }
  return array_;
}

pmix_info_t* info_array::data() const {
  return static_cast<pmix_info_t*>(array().array);
}
std::size_t info_array::size() const {
  return array().size;
}

owned_value::~owned_value() {
  if (value_ != nullptr) PMIX_VALUE_RELEASE(value_);
}

const char* pmix_version() {
  return PMIx_Get_version();
}

} // namespace weft::boot
