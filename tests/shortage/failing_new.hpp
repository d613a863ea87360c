// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace shortage {

// The n-th allocation of this process from now on fails; 0: none.
void fail_allocation(long n);
// The first allocation of each thread but the caller fails.
void fail_first_of_other_threads();
// The n-th, since it was told so.
bool has_failed();

} // namespace shortage
