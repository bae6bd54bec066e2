! autotune
! args  N=512, M=256
! a[M, N] : input
! x[N] : input
! y[m:M] = sum(n:N) a[m, n] * x[n]
! knob  BLOCK = 1 2 4 8 16
! flags -O3 -march=native -ffast-math
! call  void matvec(const float *a, const float *x, float *y, int N, int M)
subroutine matvec(a, x, y, n, m)
    implicit none
    integer, intent(in) :: n, m
    real, intent(in) :: a(n, m), x(n)
    real, intent(out) :: y(m)
    integer :: i, j
    do j = 1, m, BLOCK
        do i = j, min(j + BLOCK - 1, m)
            y(i) = dot_product(a(:, i), x)
        end do
    end do
end subroutine matvec
