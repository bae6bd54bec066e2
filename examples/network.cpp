// examples/network.cpp: all kernels of a log in a C++ program, chosen by shape. README.md beside it
// says how kernels.c and kernels.h come about.
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "kernels.h"

// A product of [M, K] and the transpose of [N, K], with its weights packed when it is made.
class Layer {
  public:
    Layer(long m, long n, long k, const std::vector<float> &weight)
        : shape{m, n, k, 0, 0}, packed(packed_bytes()), workspace(workspace_bytes()) {
        dense_pack(&shape, weight.data(), packed.data());
    }

    std::vector<float> operator()(const std::vector<float> &data) {
        std::vector<float> out(shape.M * shape.N);
        if (dense_in_blocks(&shape, data.data(), packed.data(), out.data(), workspace.data()) != 0)
            throw std::logic_error("the shape has gone");
        return out;
    }

  private:
    std::size_t packed_bytes() const {
        if (!dense_kernel(&shape)) throw std::invalid_argument("no kernel has this shape");
        return static_cast<std::size_t>(dense_packed_bytes(&shape));
    }
    std::size_t workspace_bytes() const {
        return static_cast<std::size_t>(dense_workspace_bytes(&shape, 1));
    }

    dense_shape shape;
    std::vector<char> packed, workspace;
};

static std::vector<float> numbers(long n) {
    std::vector<float> v(n);
    for (long i = 0; i < n; i++) v[i] = static_cast<float>(i % 7 - 3);
    return v;
}

static long wrong(long m, long n, long k) {
    const std::vector<float> data = numbers(m * k), weight = numbers(n * k);
    const std::vector<float> out = Layer(m, n, k, weight)(data);
    long count = 0;
    for (long i = 0; i < m * n; i++) {
        float sum = 0;
        for (long j = 0; j < k; j++) sum += data[i / n * k + j] * weight[i % n * k + j];
        count += out[i] != sum;
    }
    return count;
}

int main() {
    std::printf("C++: %ld and %ld wrong\n", wrong(8, 64, 32), wrong(8, 16, 64));
    try {
        wrong(8, 65, 32);
    } catch (const std::invalid_argument &e) {
        std::printf("C++: 8x65x32: %s\n", e.what());
        return 0;
    }
    return 1;
}
