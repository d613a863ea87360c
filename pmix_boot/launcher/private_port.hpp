// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// PMIx's server listens on a port of the loopback interface, which every user of the host can reach, and what
// it reads there it trusts: a few bytes can stop it or end it, and who says so is a rank. So connections of
// other users are closed before PMIx sees them; the kernel knows whose they are, and says it at a price that
// does not grow with their number: a flood of them does not keep ranks from joining.

namespace weft::boot {

// From now on accept() in this process takes TCP connections over IPv4 from processes of this user and of
// root on this host only, in whatever library it is called.
void accept_own_user_only();

} // namespace weft::boot
