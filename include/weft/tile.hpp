// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "array.hpp"
#include "rows.h"

#include <cstddef>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>

namespace weft {

namespace detail {

// Rows of `columns` elements; each begins `width` elements behind the one before.
struct tile_shape {
  std::size_t rows, columns, width;

  static tile_shape of_all(const char* call, std::size_t size, std::size_t width) {
    if (width == 0 || size % width != 0) [[unlikely]]
      throw error(call, "width", std::to_string(width),
                  "must divide the " + std::to_string(size) + " elements into whole rows");
    return {size / width, width, width};
  }
  // Where a part of it begins. Errors: the part is not in it.
  std::size_t offset(const char* call, std::size_t row, std::size_t column, std::size_t count_rows,
                     std::size_t count_columns) const {
    require(call, "row", row, count_rows, rows, " rows");
    require(call, "column", column, count_columns, columns, " columns");
    return row * width + column;
  }
  void require_equal(const char* call, const char* argument, const tile_shape& given) const {
    if (given.rows != rows || given.columns != columns) [[unlikely]]
      throw error(call, argument, text(given), "must be as large as the tile there, " + text(*this));
  }

private:
  static void require(const char* call, const char* argument, std::size_t first, std::size_t count,
                      std::size_t there, const char* what) {
    if (first > there || count > there - first) [[unlikely]]
      throw error(call, argument, std::to_string(first),
                  "with " + std::to_string(count) + what + " is past the end: there are " +
                      std::to_string(there));
  }
  static std::string text(const tile_shape& shape) {
    return std::to_string(shape.rows) + " x " + std::to_string(shape.columns);
  }
};

} // namespace detail

// Elements of the calling rank in rows: a matrix, a column of one or another part of it. It owns nothing.
//
//   weft::array<double> a(rows * width);
//   weft::tile mine(a, width);                                  // rows * width elements, row by row
//   weft::remote_tile theirs(a.on(right), width);               // the same of another rank
//   theirs.column(0).put(mine.column(width - 2)).wait();        // without a buffer
//   arrived.put(theirs.part(0, 0, 4, 4), mine.part(4, 4, 4, 4)) // with a signal, see weft::signals
template <class T> class tile {
public:
  using element_type = T;

  // Of elements that lie one behind the other. Errors: they are not whole rows.
  template <std::ranges::contiguous_range R>
  tile(R&& elements, std::size_t width)
      : first_(std::ranges::data(elements)),
        shape_(detail::tile_shape::of_all("weft::tile", std::ranges::size(elements), width)) {}
  operator tile<const T>() const noexcept { return {first_, shape_}; }

  std::size_t rows() const noexcept { return shape_.rows; }
  std::size_t columns() const noexcept { return shape_.columns; }
  // From the beginning of one row to that of the next, in elements.
  std::size_t width() const noexcept { return shape_.width; }
  T* data() const noexcept { return first_; }
  const detail::tile_shape& shape() const noexcept { return shape_; }
  T& operator()(std::size_t row, std::size_t column) const { return first_[row * shape_.width + column]; }
  // A row, whose elements lie one behind the other: weft::tile(t[i], 1) is it as a column.
  std::span<T> operator[](std::size_t row) const { return {first_ + row * shape_.width, shape_.columns}; }
  // Errors: past the end.
  tile part(std::size_t row, std::size_t column, std::size_t rows, std::size_t columns) const {
    const std::size_t offset = shape_.offset("weft::tile::part", row, column, rows, columns);
    return {first_ + offset, {rows, columns, shape_.width}};
  }
  tile row(std::size_t row) const { return part(row, 0, 1, shape_.columns); }
  tile column(std::size_t column) const { return part(0, column, shape_.rows, 1); }

private:
  template <class> friend class tile;
  tile(T* first, const detail::tile_shape& shape) noexcept : first_(first), shape_(shape) {}

  T* first_;
  detail::tile_shape shape_;
};
template <class R>
tile(R&&, std::size_t) -> tile<std::remove_pointer_t<decltype(std::ranges::data(std::declval<R&>()))>>;

// The same of elements in the memory of one rank, as seen by all.
template <class T> class remote_tile {
public:
  using element_type = T;

  remote_tile(const remote_span<T>& elements, std::size_t width)
      : first_(elements.data()),
        shape_(detail::tile_shape::of_all("weft::remote_tile", elements.size(), width)) {}

  std::size_t rows() const noexcept { return shape_.rows; }
  std::size_t columns() const noexcept { return shape_.columns; }
  std::size_t width() const noexcept { return shape_.width; }
  // The rank of the job that has them.
  int rank() const noexcept { return static_cast<int>(first_.threadof()); }
  ptr<T, 0> data() const noexcept { return first_; }
  const detail::tile_shape& shape() const noexcept { return shape_; }
  // Errors: past the end.
  remote_tile part(std::size_t row, std::size_t column, std::size_t rows, std::size_t columns) const {
    upc_shared_ptr_t there = first_;
    there.addr += sizeof(T) * shape_.offset("weft::remote_tile::part", row, column, rows, columns);
    return {there, {rows, columns, shape_.width}};
  }
  remote_tile row(std::size_t row) const { return part(row, 0, 1, shape_.columns); }
  remote_tile column(std::size_t column) const { return part(0, column, shape_.rows, 1); }

  // Copies between these elements and those of the calling rank, of any memory. It must last, and not be
  // changed, until the pending is complete; then the elements are in place. Errors: of another shape; a rank
  // that there is not; elements of both ends that overlap.
  pending put(const tile<const T>& from, line_of_call where = line_of_call::here()) const {
    const detail::at_site here(where);
    shape_.require_equal("weft::remote_tile::put", "from", from.shape());
    return pending(weft_put_rows(first_, sizeof(T) * shape_.width, from.data(), sizeof(T) * from.width(),
                                 sizeof(T) * shape_.columns, shape_.rows, {}, 0, WEFT_SIGNAL_ADD));
  }
  pending get(const tile<T>& to, line_of_call where = line_of_call::here()) const {
    const detail::at_site here(where);
    shape_.require_equal("weft::remote_tile::get", "to", to.shape());
    return pending(weft_get_rows(to.data(), sizeof(T) * to.width(), first_, sizeof(T) * shape_.width,
                                 sizeof(T) * shape_.columns, shape_.rows));
  }

private:
  remote_tile(upc_shared_ptr_t first, const detail::tile_shape& shape) noexcept
      : first_(first), shape_(shape) {}

  ptr<T, 0> first_;
  detail::tile_shape shape_;
};

} // namespace weft
