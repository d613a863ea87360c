! SPDX-License-Identifier: BSD-3-Clause
! An unchanged program of MPI in Fortran: collectives that go on, messages beside them, in place and not, in the three ways to
! use MPI (FROM is one of mpi, mpi_f08 and a file that includes mpif.h). An operator of the program gets the type's handle as
! Fortran has it.
program fortran
#ifdef OLD
  implicit none
  include 'mpif.h'
#else
  use FROM
  implicit none
#endif
#ifdef NEW
  type(MPI_Request) :: r(4)
  type(MPI_Comm) :: half
#else
  integer :: r(4), half
#endif
  integer :: me, ranks, k, n, round, wrong, error, other, place, half_me, half_size
  integer, allocatable :: from(:), to(:)
  double precision :: part(5), total(5)
  integer :: token, got, maps(2, 400), map(2, 400)
  logical :: flag
#ifdef NEW
  type(MPI_Op) :: after
  type(MPI_Datatype) :: pair
#else
  integer :: after, pair
#endif

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(me, 2), -me, half, error)
  call MPI_Comm_rank(half, half_me, error)
  call MPI_Comm_size(half, half_size, error)
  wrong = 0
  call MPI_Type_contiguous(2, MPI_INTEGER, pair, error)
  call MPI_Type_commit(pair, error)
  do round = 1, 30
    n = 3 + 5000 * mod(round, 3)
    allocate(from(n * ranks), to(n * ranks))
    do k = 1, n * ranks
      from(k) = me * 1000 + (k - 1) / n + round
    end do
    call MPI_Ialltoall(from, n, MPI_INTEGER, to, n, MPI_INTEGER, MPI_COMM_WORLD, r(1), error)
    part = dble(half_me + round)
    total = part
    if (mod(round, 2) == 0) then
      call MPI_Iallreduce(MPI_IN_PLACE, total, 5, MPI_DOUBLE_PRECISION, MPI_SUM, half, r(2), error)
    else
      call MPI_Iallreduce(part, total, 5, MPI_DOUBLE_PRECISION, MPI_SUM, half, r(2), error)
    end if
    token = me
    other = mod(me + 1, ranks)
    call MPI_Irecv(got, 1, MPI_INTEGER, mod(me + ranks - 1, ranks), 7, MPI_COMM_WORLD, r(3), error)
    call MPI_Isend(token, 1, MPI_INTEGER, other, 7, MPI_COMM_WORLD, r(4), error)
    select case (mod(round, 3))
    case (0)
      call MPI_Waitall(4, r, MPI_STATUSES_IGNORE, error)
    case (1)
      do k = 1, 4
        call MPI_Waitany(4, r, place, MPI_STATUS_IGNORE, error)
      end do
    case default
      flag = .false.
      do while (.not. flag)
        call MPI_Testall(4, r, flag, MPI_STATUSES_IGNORE, error)
      end do
    end select
    do k = 1, 4
      if (r(k) /= MPI_REQUEST_NULL) wrong = wrong + 1
    end do
    do k = 1, n * ranks
      if (to(k) /= (k - 1) / n * 1000 + me + round) wrong = wrong + 1
    end do
    if (any(total /= dble(half_size * (half_size - 1) / 2 + half_size * round))) wrong = wrong + 1
    if (got /= mod(me + ranks - 1, ranks)) wrong = wrong + 1
    token = 0
    if (me == mod(round, ranks)) token = round
    call MPI_Ibcast(token, 1, MPI_INTEGER, mod(round, ranks), MPI_COMM_WORLD, r(1), error)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE, error)
    if (token /= round) wrong = wrong + 1
    deallocate(from, to)
    ! The map x -> a*x + b, one after the other: it does not commute. All but one add 1, one takes twice.
    call MPI_Op_create(follow, .false., after, error)
    maps(1, :) = 1
    maps(2, :) = 1
    if (me == mod(round, ranks)) maps(1, :) = 2
    call MPI_Iallreduce(maps, map, 400, pair, after, MPI_COMM_WORLD, r(1), error)
    call MPI_Op_free(after, error)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE, error)
    if (any(map(1, :) /= 2) .or. any(map(2, :) /= ranks + mod(round, ranks))) wrong = wrong + 1
  end do
  call MPI_Type_free(pair, error)
  call MPI_Comm_free(half, error)
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (me == 0 .and. wrong == 0) print '(a)', 'all right'
  if (me == 0 .and. wrong /= 0) print '(i0, a)', wrong, ' are WRONG'
  call MPI_Finalize(error)

contains

#ifdef NEW
  subroutine follow(first, then, n, type)
    use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
    type(c_ptr), value :: first, then
    integer :: n
    type(MPI_Datatype) :: type
    integer, pointer :: f(:, :), g(:, :)
    integer :: bytes, error
    call c_f_pointer(first, f, [2, n])
    call c_f_pointer(then, g, [2, n])
#else
  subroutine follow(f, g, n, type)
    integer :: n, type, f(2, n), g(2, n)
    integer :: bytes, error
#endif
    call MPI_Type_size(type, bytes, error)
    if (bytes /= 8) stop 'the operator gets another type'
    g(2, :) = g(1, :) * f(2, :) + g(2, :)
    g(1, :) = g(1, :) * f(1, :)
  end subroutine
end program fortran
