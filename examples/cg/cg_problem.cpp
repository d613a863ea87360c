// SPDX-License-Identifier: BSD-3-Clause
#include "examples/cg/cg_problem.hpp"

#include "examples/support/nas_random.hpp"
#include "examples/support/problem_class.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace cg {
namespace {

// NAS parallel benchmarks 3.3, CG.
constexpr problem table[] = {
    {"S", 1400, 7, 15, 10, 8.5971775078648},
    {"W", 7000, 8, 15, 12, 10.362595087124},
    {"A", 14000, 11, 15, 20, 17.130235054029},
};
constexpr double smallest_eigenvalue = 0.1;

struct entry {
  std::uint32_t column;
  double value;
};
using sparse_vector = std::vector<entry>;

// Random elements at random places, all different, and one half at its own.
sparse_vector make_vector(const problem& p, std::size_t number, example::nas_random& random) {
  const auto places = static_cast<double>(std::bit_ceil(p.rows));
  sparse_vector v;
  while (v.size() < p.nonzeros) {
    const double value = random.next();
    const auto place = static_cast<std::uint32_t>(places * random.next());
    if (place < p.rows && std::ranges::find(v, place, &entry::column) == v.end()) v.push_back({place, value});
  }
  const auto here = static_cast<std::uint32_t>(number);
  const auto own = std::ranges::find(v, here, &entry::column);
  if (own != v.end())
    own->value = 0.5;
  else
    v.push_back({here, 0.5});
  return v;
}

// Columns are counted from `first` on.
void append(sparse_rows& rows, std::span<const entry> in_order, std::size_t first) {
  for (const entry& e : in_order) {
    const auto column = static_cast<std::uint32_t>(e.column - first);
    const bool again = rows.column.size() > rows.begin.back() && rows.column.back() == column;
    if (again) {
      rows.value.back() += e.value;
    } else {
      rows.column.push_back(column);
      rows.value.push_back(e.value);
    }
  }
  rows.begin.push_back(rows.column.size());
}

} // namespace

std::span<const problem> problems() {
  return table;
}

const problem& find_problem(std::string_view name) {
  return example::problem_class(table, name);
}

void sparse_rows::add_product(const double* x, double* y) const {
  for (std::size_t r = 0; r != rows(); ++r) {
    double sum = 0;
    for (std::size_t k = begin[r]; k != begin[r + 1]; ++k)
      sum += value[k] * x[column[k]];
    y[r] += sum;
  }
}

// The sum of the products of random vectors with themselves, weights falling down to the smallest eigenvalue,
// which is on the diagonal besides; shifted.
rows_of_thread make_rows(const problem& p, std::size_t first, std::size_t last) {
  example::nas_random random(1); // the benchmark draws one that it does not use
  std::vector<sparse_vector> rows(last - first);
  const double ratio = std::pow(smallest_eigenvalue, 1.0 / static_cast<double>(p.rows));
  double weight = 1;
  for (std::size_t number = 0; number != p.rows; ++number, weight *= ratio) {
    const sparse_vector v = make_vector(p, number, random);
    for (const entry& down : v) {
      if (down.column < first || down.column >= last) continue;
      for (const entry& along : v) {
        const bool diagonal = down.column == number && along.column == number;
        const double product = along.value * (weight * down.value);
        rows[down.column - first].push_back(
            {along.column, diagonal ? product + smallest_eigenvalue - p.shift : product});
      }
    }
  }
  rows_of_thread made;
  for (sparse_vector& row : rows) {
    std::ranges::stable_sort(row, {}, &entry::column);
    const auto begin = std::ranges::lower_bound(row, first, {}, &entry::column);
    const auto end = std::ranges::lower_bound(row, last, {}, &entry::column);
    append(made.own, {begin, end}, first);
    row.erase(begin, end);
    append(made.others, row, 0);
  }
  return made;
}

} // namespace cg
