! SPDX-License-Identifier: BSD-3-Clause
! An unchanged program of MPI in Fortran: each non-blocking collective gives what the blocking one gives, with arrays and in
! place, with numbers that Fortran has, types that are freed behind the post, sections of arrays (where MPI takes them:
! SECTIONS), MPI_BOTTOM and an operator of the program. FROM and NEW are those of fortran.F90.
program calls
#ifdef OLD
  implicit none
  include 'mpif.h'
#else
  use FROM
  implicit none
#endif
#ifdef NEW
#define REQ type(MPI_Request)
#define COM type(MPI_Comm)
#define TYP type(MPI_Datatype)
#define OPR type(MPI_Op)
#else
#define REQ integer
#define COM integer
#define TYP integer
#define OPR integer
#endif
  integer :: me, n, e, k, j, bad, err, cls, place, some, ind(20), other
  REQ :: r, q(8)
  COM :: c
  TYP :: t, tt
  OPR :: op
  integer, parameter :: m = 37
  integer :: a(m*16), b(m*16), w(m*16), counts(16), places(16), bplaces(16), one
  TYP :: types(16)
  integer(8) :: i8(m), o8(m), w8(m)
  real(16) :: r16(m), p16(m), w16(m)
  double precision :: dd(2, m), ddo(2, m), ddw(2, m)
  complex(8) :: z(m), zo(m), zw(m)
  logical :: l(m), lo(m), lw(m), flag
  character(len=16) :: s
  integer :: sq(12, 12), sqo(12, 12)
  integer(kind=MPI_ADDRESS_KIND) :: ad(2), lb, ex
  integer, asynchronous :: x1  ! MPI writes it behind a call that is not given it: the compiler may not keep its value
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, e)
  call MPI_Comm_size(MPI_COMM_WORLD, n, e)
  call MPI_Comm_dup(MPI_COMM_WORLD, c, e)
  bad = 0
  do k = 1, 16
    counts(k) = m - mod(k, 3)
    places(k) = (k - 1) * m
    bplaces(k) = (k - 1) * m * 4
    types(k) = MPI_INTEGER
  end do
  call fill()
  call MPI_Igather(a, m, MPI_INTEGER, b, m, MPI_INTEGER, n - 1, c, r, e)
  call finish()
  call MPI_Gather(a, m, MPI_INTEGER, w, m, MPI_INTEGER, n - 1, c, e)
  call same(1)
  call MPI_Iscatter(a, m, MPI_INTEGER, b, m, MPI_INTEGER, n - 1, c, r, e)
  call finish()
  call MPI_Scatter(a, m, MPI_INTEGER, w, m, MPI_INTEGER, n - 1, c, e)
  call same(2)
  call MPI_Iallgather(a, m, MPI_INTEGER, b, m, MPI_INTEGER, c, r, e)
  call finish()
  call MPI_Allgather(a, m, MPI_INTEGER, w, m, MPI_INTEGER, c, e)
  call same(3)
  call MPI_Ialltoall(a, m, MPI_INTEGER, b, m, MPI_INTEGER, c, r, e)
  call finish()
  call MPI_Alltoall(a, m, MPI_INTEGER, w, m, MPI_INTEGER, c, e)
  call same(4)
  call MPI_Igatherv(a, counts(me+1), MPI_INTEGER, b, counts, places, MPI_INTEGER, 0, c, r, e)
  call finish()
  call MPI_Gatherv(a, counts(me+1), MPI_INTEGER, w, counts, places, MPI_INTEGER, 0, c, e)
  call same(5)
  call MPI_Iscatterv(a, counts, places, MPI_INTEGER, b, counts(me+1), MPI_INTEGER, 0, c, r, e)
  call finish()
  call MPI_Scatterv(a, counts, places, MPI_INTEGER, w, counts(me+1), MPI_INTEGER, 0, c, e)
  call same(6)
  call MPI_Iallgatherv(a, counts(me+1), MPI_INTEGER, b, counts, places, MPI_INTEGER, c, r, e)
  call finish()
  call MPI_Allgatherv(a, counts(me+1), MPI_INTEGER, w, counts, places, MPI_INTEGER, c, e)
  call same(7)
  counts = 0
  do k = 1, n
    counts(k) = mod(k + me, 5) + 3
  end do
  call MPI_Ialltoallv(a, counts, places, MPI_INTEGER, b, counts, places, MPI_INTEGER, c, r, e)
  call finish()
  call MPI_Alltoallv(a, counts, places, MPI_INTEGER, w, counts, places, MPI_INTEGER, c, e)
  call same(8)
  call MPI_Ialltoallw(a, counts, bplaces, types, b, counts, bplaces, types, c, r, e)
  call finish()
  call MPI_Alltoallw(a, counts, bplaces, types, w, counts, bplaces, types, c, e)
  call same(9)
  call MPI_Ireduce(a, b, m, MPI_INTEGER, MPI_MAX, 0, c, r, e)
  call finish()
  call MPI_Reduce(a, w, m, MPI_INTEGER, MPI_MAX, 0, c, e)
  call same(10)
  call MPI_Iallreduce(a, b, m, MPI_INTEGER, MPI_SUM, c, r, e)
  call finish()
  call MPI_Allreduce(a, w, m, MPI_INTEGER, MPI_SUM, c, e)
  call same(11)
  call MPI_Iscan(a, b, m, MPI_INTEGER, MPI_SUM, c, r, e)
  call finish()
  call MPI_Scan(a, w, m, MPI_INTEGER, MPI_SUM, c, e)
  call same(12)
  call MPI_Iexscan(a, b, m, MPI_INTEGER, MPI_SUM, c, r, e)
  call finish()
  call MPI_Exscan(a, w, m, MPI_INTEGER, MPI_SUM, c, e)
  if (me > 0) call same(13)
  b = w
  counts = 5
  call MPI_Ireduce_scatter(a, b, counts, MPI_INTEGER, MPI_SUM, c, r, e)
  call finish()
  call MPI_Reduce_scatter(a, w, counts, MPI_INTEGER, MPI_SUM, c, e)
  call same(14)
  call MPI_Ireduce_scatter_block(a, b, 4, MPI_INTEGER, MPI_MIN, c, r, e)
  call finish()
  call MPI_Reduce_scatter_block(a, w, 4, MPI_INTEGER, MPI_MIN, c, e)
  call same(15)
  ! in place
  b = a
  w = a
  call MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INTEGER, b, m, MPI_INTEGER, c, r, e)
  call finish()
  call MPI_Alltoall(a, m, MPI_INTEGER, w, m, MPI_INTEGER, c, e)
  call same(20)
  b = a
  w = a
  call MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INTEGER, b, m, MPI_INTEGER, c, r, e)
  call finish()
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, w, m, MPI_INTEGER, c, e)
  call same(21)
  b = a
  w = a
  call MPI_Iallreduce(MPI_IN_PLACE, b, m, MPI_INTEGER, MPI_SUM, c, r, e)
  call finish()
  call MPI_Allreduce(MPI_IN_PLACE, w, m, MPI_INTEGER, MPI_SUM, c, e)
  call same(22)
  b = a
  w = a
  if (me == 0) then
    call MPI_Ireduce(MPI_IN_PLACE, b, m, MPI_INTEGER, MPI_SUM, 0, c, r, e)
  call finish()
  call MPI_Reduce(MPI_IN_PLACE, w, m, MPI_INTEGER, MPI_SUM, 0, c, e)
  else
    call MPI_Ireduce(a, b, m, MPI_INTEGER, MPI_SUM, 0, c, r, e)
  call finish()
  call MPI_Reduce(a, w, m, MPI_INTEGER, MPI_SUM, 0, c, e)
  end if
  call same(23)
  b = a
  w = a
  if (me == 0) then
    call MPI_Iscatter(a, m, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_INTEGER, 0, c, r, e)
  call finish()
  call MPI_Scatter(a, m, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_INTEGER, 0, c, e)
  else
    call MPI_Iscatter(a, m, MPI_INTEGER, b, m, MPI_INTEGER, 0, c, r, e)
  call finish()
  call MPI_Scatter(a, m, MPI_INTEGER, w, m, MPI_INTEGER, 0, c, e)
  end if
  call same(24)
  ! types of Fortran
  do k = 1, m
    i8(k) = 10_8**12 * me + k
    r16(k) = 1.0_16 / (me + k)
    dd(:, k) = (/ dble(mod(k * 7 + me * 3, 11)), dble(me) /)
    z(k) = cmplx(me + k, k, 8)
    l(k) = mod(k + me, 3) == 0
  end do
  call MPI_Iallreduce(i8, o8, m, MPI_INTEGER8, MPI_SUM, c, r, e)
  call finish()
  call MPI_Allreduce(i8, w8, m, MPI_INTEGER8, MPI_SUM, c, e)
  if (any(o8 /= w8)) call wrong(30)
  call MPI_Iallreduce(r16, p16, m, MPI_REAL16, MPI_MAX, c, r, e)
  call finish()
  call MPI_Allreduce(r16, w16, m, MPI_REAL16, MPI_MAX, c, e)
  if (any(p16 /= w16)) call wrong(31)
  call MPI_Iallgather(r16, 1, MPI_REAL16, p16, 1, MPI_REAL16, c, r, e)
  call finish()
  call MPI_Allgather(r16, 1, MPI_REAL16, w16, 1, MPI_REAL16, c, e)
  if (any(p16 /= w16)) call wrong(32)
  call MPI_Iallreduce(dd, ddo, m, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, c, r, e)
  call finish()
  call MPI_Allreduce(dd, ddw, m, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, c, e)
  if (any(ddo /= ddw)) call wrong(33)
  call MPI_Iallreduce(dd, ddo, m, MPI_2DOUBLE_PRECISION, MPI_MINLOC, c, r, e)
  call finish()
  call MPI_Allreduce(dd, ddw, m, MPI_2DOUBLE_PRECISION, MPI_MINLOC, c, e)
  if (any(ddo /= ddw)) call wrong(34)
  call MPI_Iallreduce(z, zo, m, MPI_DOUBLE_COMPLEX, MPI_SUM, c, r, e)
  call finish()
  call MPI_Allreduce(z, zw, m, MPI_DOUBLE_COMPLEX, MPI_SUM, c, e)
  if (any(zo /= zw)) call wrong(35)
  call MPI_Iallreduce(l, lo, m, MPI_LOGICAL, MPI_LAND, c, r, e)
  call finish()
  call MPI_Allreduce(l, lw, m, MPI_LOGICAL, MPI_LAND, c, e)
  if (any(lo .neqv. lw)) call wrong(36)
  call MPI_Iallreduce(l, lo, m, MPI_LOGICAL, MPI_LXOR, c, r, e)
  call finish()
  call MPI_Allreduce(l, lw, m, MPI_LOGICAL, MPI_LXOR, c, e)
  if (any(lo .neqv. lw)) call wrong(37)
  call MPI_Iallreduce(l, lo, m, MPI_LOGICAL, MPI_LOR, c, r, e)
  call finish()
  call MPI_Allreduce(l, lw, m, MPI_LOGICAL, MPI_LOR, c, e)
  if (any(lo .neqv. lw)) call wrong(38)
  s = ' '
  if (me == 0) s = 'from the first'
  call MPI_Ibcast(s, 16, MPI_CHARACTER, 0, c, r, e)
  call finish()
  if (s /= 'from the first') call wrong(39)
  ! a row of a matrix, columns to each: vectors
  do k = 1, 12
    do j = 1, 12
      sq(j, k) = me * 1000 + j * 20 + k
    end do
  end do
  sqo = -1
  call MPI_Type_vector(12, 1, 12, MPI_INTEGER, t, e)
  lb = 0
  ex = 4
  call MPI_Type_create_resized(t, lb, ex, tt, e)
  call MPI_Type_commit(tt, e)
  call MPI_Type_free(t, e)
  call MPI_Ialltoall(sq, 1, tt, sqo, 12, MPI_INTEGER, c, r, e)
  call MPI_Type_free(tt, e)
  call finish()
  do k = 1, n
    do j = 1, 12
      if (sqo(j, k) /= (k - 1) * 1000 + (me + 1) * 20 + j) call wrong(40)
    end do
  end do
#if defined(NEW) && defined(SECTIONS)
  ! sections of an array, which are not contiguous
  sqo = -1
  call MPI_Iallgather(sq(2, 1:12), 12, MPI_INTEGER, sqo, 12, MPI_INTEGER, c, r, e)
  call finish()
  do k = 1, n
    do j = 1, 12
      if (sqo(j, k) /= (k - 1) * 1000 + 40 + j) call wrong(41)
    end do
  end do
  sqo = -1
  if (me == 0) sqo(3, 1:12:2) = 77
  call MPI_Ibcast(sqo(3, 1:12:2), 6, MPI_INTEGER, 0, c, r, e)
  call finish()
  if (any(sqo(3, 1:12:2) /= 77) .or. any(sqo(3, 2:12:2) /= -1) .or. any(sqo(4:, :) /= -1)) call wrong(42)
  sqo = -1
#endif
  ! MPI_BOTTOM
  x1 = me + 5
  call MPI_Get_address(x1, ad(1), e)
  one = 1
  call MPI_Type_create_hindexed(1, (/one/), ad(1:1), MPI_INTEGER, t, e)
  call MPI_Type_commit(t, e)
  call MPI_Ibcast(MPI_BOTTOM, 1, t, n - 1, c, r, e)
  call MPI_Type_free(t, e)
  call finish()
  if (x1 /= n + 4) call wrong(44)
  ! an operator of the program
  call MPI_Op_create(addmul, .false., op, e)
  call MPI_Iallreduce(a, b, m, MPI_INTEGER, op, c, r, e)
  call finish()
  call MPI_Allreduce(a, w, m, MPI_INTEGER, op, c, e)
  b(m+1:) = w(m+1:)
  call same(50)
  call MPI_Iscan(a, b, m, MPI_INTEGER, op, c, r, e)
  call finish()
  call MPI_Scan(a, w, m, MPI_INTEGER, op, c, e)
  call same(51)
  call MPI_Op_free(op, e)
  ! arrays of requests with statuses ignored, and messages between
  b = -1
  w = -1
  other = -1
  call MPI_Iallgather(a, m, MPI_INTEGER, b, m, MPI_INTEGER, c, q(1), e)
  call MPI_Irecv(other, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, c, q(2), e)
  call MPI_Isend(me, 1, MPI_INTEGER, mod(me + 1, n), 4, c, q(3), e)
  call MPI_Ibarrier(c, q(4), e)
  q(5) = MPI_REQUEST_NULL
  call MPI_Iallreduce(i8, o8, m, MPI_INTEGER8, MPI_SUM, c, q(6), e)
  k = 0
  do while (k < 5)
    call MPI_Waitsome(6, q, some, ind, MPI_STATUSES_IGNORE, e)
    k = k + some
  end do
  do k = 1, 6
    if (q(k) /= MPI_REQUEST_NULL) call wrong(60)
  end do
  call MPI_Testsome(6, q, some, ind, MPI_STATUSES_IGNORE, e)
  if (some /= MPI_UNDEFINED) call wrong(61)
  call MPI_Testany(6, q, place, flag, MPI_STATUS_IGNORE, e)
  if (.not. flag) call wrong(62)
  call MPI_Allgather(a, m, MPI_INTEGER, w, m, MPI_INTEGER, c, e)
  call same(63)
  if (other /= mod(me + n - 1, n)) call wrong(64)
  ! errors are results
  call MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN, e)
  call MPI_Ibcast(a, 1, MPI_INTEGER, n + 1, c, r, err)
  call MPI_Error_class(err, cls, e)
  if (cls /= MPI_ERR_ROOT) call wrong(70)
  call MPI_Ibarrier(c, r, e)
  call MPI_Wait(r, MPI_STATUS_IGNORE, e)
  if (e /= MPI_SUCCESS) call wrong(71)
  call MPI_Comm_free(c, e)
  call MPI_Allreduce(MPI_IN_PLACE, bad, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
  if (me == 0) print '(i0, a)', bad, ' are wrong'
  call MPI_Finalize(e)
contains
  subroutine fill()
    integer :: i
    do i = 1, m * 16
      a(i) = mod(i * 7 + me * 13, 101)
    end do
    b = -9
    w = -9
  end subroutine
  subroutine finish()
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
  end subroutine
  subroutine same(what)
    integer :: what
    if (any(b /= w)) call wrong(what)
    b = -9
    w = -9
  end subroutine
  subroutine wrong(what)
    integer :: what
    bad = bad + 1
    if (bad < 6) print '(a,i0,a,i0)', 'rank ', me, ' wrong at ', what
  end subroutine
#ifdef NEW
  subroutine addmul(first, then, cnt, type)
    use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
    type(c_ptr), value :: first, then
    integer :: cnt
    type(MPI_Datatype) :: type
    integer, pointer :: x(:), y(:)
    call c_f_pointer(first, x, [cnt])
    call c_f_pointer(then, y, [cnt])
    y = mod(x * y + x + y, 1009)
  end subroutine
#else
  subroutine addmul(x, y, cnt, type)
    integer :: cnt, type, x(cnt), y(cnt)
    y = mod(x * y + x + y, 1009)
  end subroutine
#endif
end program
