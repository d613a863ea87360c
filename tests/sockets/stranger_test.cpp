// SPDX-License-Identifier: BSD-3-Clause
// A process that has all of a rank's card, and so its port, but not the key of the job, can neither read nor
// write the rank's memory through UCX, and the rank lives.
//
// Mutations that this catches: a context over sockets asks for UCX's put and get; the key is not looked at.
#include "engine/transport/ucx/links.hpp"
#include "tests/sockets/ranks.hpp"

#include <cstring>

namespace weft::tests {
namespace {
using namespace transport::ucx;

// Another program on UCX, which knows its interfaces.
class stranger {
public:
  stranger(const ranks_of_one_process& job, std::uint32_t rank) : card_(unpacked_card(job.card(rank))) {
    setenv("UCX_TLS", "tcp,self", 1);
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_RMA | UCP_FEATURE_AM;
    ucp_context_h context = nullptr;
    check(ucp_init(&params, nullptr, &context), "context");
    unsetenv("UCX_TLS");
    context_.reset(context);
    ucp_worker_params_t how{};
    ucp_worker_h worker = nullptr;
    check(ucp_worker_create(context, &how, &worker), "worker");
    worker_.reset(worker);
    ucp_ep_params_t whom{};
    whom.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
    whom.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    whom.address = reinterpret_cast<const ucp_address_t*>(card_.address.data());
    check(ucp_ep_create(worker, &whom, &endpoint_), "endpoint");
    ucp_rkey_h key = nullptr;
    check(ucp_ep_rkey_unpack(endpoint_, card_.key.data(), &key), "key");
    key_.reset(key);
  }
  ~stranger() {
    key_.reset();
    void* closing = ucp_ep_close_nb(endpoint_, UCP_EP_CLOSE_MODE_FORCE);
    while (UCS_PTR_IS_PTR(closing) && ucp_request_check_status(closing) == UCS_INPROGRESS)
      poll();
    for (void* r : requests_)
      if (UCS_PTR_IS_PTR(r)) ucp_request_free(r);
  }

  void put(std::uint64_t at, const void* from, std::size_t bytes) {
    const ucp_request_param_t param{};
    requests_.push_back(ucp_put_nbx(endpoint_, from, bytes, card_.base + at, key_.get(), &param));
    requests_.push_back(ucp_ep_flush_nbx(endpoint_, &param));
  }
  void get(std::uint64_t at, void* to, std::size_t bytes) {
    const ucp_request_param_t param{};
    requests_.push_back(ucp_get_nbx(endpoint_, to, bytes, card_.base + at, key_.get(), &param));
  }
  void send(unsigned id, const void* header, std::size_t header_bytes, const void* data, std::size_t bytes,
            std::uint32_t flags) {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = flags;
    requests_.push_back(ucp_am_send_nbx(endpoint_, id, header, header_bytes, data, bytes, &param));
  }
  void poll() { ucp_worker_progress(worker_.get()); }

private:
  transport::ucx::card card_;
  context_ptr context_;
  worker_ptr worker_;
  ucp_ep_h endpoint_ = nullptr;
  rkey_ptr key_;
  std::vector<void*> requests_;
};

constexpr int rounds = 300'000; // what is answered is answered within some hundreds

class strangers : public testing::Test {
protected:
  strangers() : memory(reinterpret_cast<std::uint64_t*>(job[0].segment())) {
    memory[0] = secret;
    job[0].set_sink(&heard);
  }
  ~strangers() override { job[0].set_sink(nullptr); }

  // Whatever the stranger did has had its effect; afterwards the ranks still work.
  void all_is_well() {
    for (int i = 0; i < rounds; ++i) {
      job.poll();
      other.poll();
    }
    EXPECT_EQ(secret, memory[0]);
    EXPECT_EQ(0, job.losses);
    EXPECT_EQ(0, heard.messages);
    const std::uint64_t value = 7;
    EXPECT_EQ(0, job.put(1, 0, 64, &value, sizeof value));
    EXPECT_EQ(0, job.flush(1, 0));
    EXPECT_EQ(7u, memory[8]);
  }

  struct counter final : transport::message_sink {
    void on_message(const transport::message&, std::span<const std::byte>) override { ++messages; }
    int messages = 0;
  };

  static constexpr std::uint64_t secret = 0xfeedfacecafebeef;
  ranks_of_one_process job{{"tcp,self", "tcp,self"}};
  stranger other{job, 0};
  std::uint64_t* memory;
  counter heard;
};

TEST_F(strangers, do_not_write_by_ucx) {
  const std::uint64_t value = 1;
  other.put(0, &value, sizeof value);
  all_is_well();
}

TEST_F(strangers, do_not_read_by_ucx) {
  std::uint64_t seen = 0;
  other.get(0, &seen, sizeof seen);
  all_is_well();
  EXPECT_EQ(0u, seen);
}

// The library's own messages, of every kind and with every number in it but the key; and messages of UCX that
// announce more than they bring.
TEST_F(strangers, do_not_write_by_the_librarys_messages) {
  const std::uint64_t value = 1;
  std::vector<std::vector<std::uint64_t>> headers;
  for (std::uint64_t what = 0; what < 8; ++what)
    headers.push_back({ranks_of_one_process::job_key + 1, wire_version | std::uint64_t{1} << 32,
                       what | 1ull << 32, sizeof value, 0, 0, 0});
  const std::vector<std::byte> much(1 << 20);
  for (const unsigned id : {7u, 8u})
    for (const auto& h : headers)
      for (const std::size_t bytes : {0, 48, 56}) {
        other.send(id, h.data(), bytes, &value, sizeof value, UCP_AM_SEND_FLAG_EAGER);
        other.send(id, h.data(), bytes, much.data(), much.size(), UCP_AM_SEND_FLAG_RNDV);
      }
  all_is_well();
}

} // namespace
} // namespace weft::tests
