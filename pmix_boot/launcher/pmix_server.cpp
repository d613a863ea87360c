// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/launcher/pmix_server.hpp"

#include <pmix.h>
#include <pmix_server.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <utility>

namespace weft::boot {

bool belongs_to_a_job(const char* entry) {
  return std::strncmp(entry, "PMIX_", 5) == 0 && std::strncmp(entry, "PMIX_MCA_", 9) != 0;
}

namespace {

std::string new_nspace() {
  std::random_device source;
  return own_launcher + std::to_string(getpid()) + "-" + std::to_string(source());
}

void forget_outer_job() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (belongs_to_a_job(*entry)) names.emplace_back(*entry, std::strcspn(*entry, "="));
  for (const std::string& name : names)
    unsetenv(name.c_str());
}

struct free_deleter {
  void operator()(char* text) const { std::free(text); }
};
using c_text = std::unique_ptr<char, free_deleter>;

c_text generate(pmix_status_t (*generator)(const char*, char**), const std::string& input) {
  char* text = nullptr;
  require_success(generator(input.c_str(), &text), "map of the job");
  return c_text(text);
}

void describe_node(info_array& job, const rank_layout& layout, std::uint32_t node) {
  info_array info;
  info.add(PMIX_HOSTNAME, layout.host(node)).add(PMIX_NODEID, node);
  info.add(PMIX_LOCAL_SIZE, layout.size_of(node)).add(PMIX_NODE_SIZE, layout.size_of(node));
  info.add(PMIX_LOCAL_PEERS, layout.rank_list(node)).add_rank(PMIX_LOCALLDR, layout.first_rank(node));
  job.add(PMIX_NODE_INFO_ARRAY, info);
}

void describe_process(info_array& job, const rank_layout& layout, std::uint32_t rank) {
  const std::uint32_t node = layout.node_of(rank);
  const auto local_rank = static_cast<std::uint16_t>(rank - layout.first_rank(node));
  info_array info;
  info.add_rank(PMIX_RANK, rank).add_rank(PMIX_GLOBAL_RANK, rank).add(PMIX_APPNUM, std::uint32_t{0});
  info.add(PMIX_LOCAL_RANK, local_rank).add(PMIX_NODE_RANK, local_rank);
  info.add(PMIX_NODEID, node).add(PMIX_HOSTNAME, layout.host(node));
  job.add(PMIX_PROC_DATA, info);
}

// A pending answer to a direct request for another rank's values.
struct modex_request {
  pmix_modex_cbfunc_t answer;
  void* data;
};

void answer_modex(pmix_status_t status, char* data, std::size_t size, void* request_data) {
  const std::unique_ptr<modex_request> request(static_cast<modex_request*>(request_data));
  // The data are PMIx's until this function returns, the answer needs them longer.
  char* copy = size == 0 ? nullptr : static_cast<char*>(std::malloc(size));
  if (copy != nullptr) std::memcpy(copy, data, size);
  request->answer(status, copy, copy == nullptr ? 0 : size, request->data, std::free, copy);
}

// Fences that lost a participant carry the loss in their last attribute; it is the fence's result.
pmix_status_t local_status(const pmix_info_t info[], std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (PMIX_CHECK_KEY(&info[i], PMIX_LOCAL_COLLECTIVE_STATUS)) return info[i].value.data.status;
  return PMIX_SUCCESS;
}

} // namespace

struct pmix_server::callbacks {
  static pmix_status_t joined(const pmix_proc_t*, void* object, pmix_info_t[], std::size_t,
                              pmix_op_cbfunc_t done, void* data) {
    return note(object, {server_event::kind::joined, 0, 0, {}}, done, data);
  }

  static pmix_status_t left(const pmix_proc_t*, void* object, pmix_op_cbfunc_t done, void* data) {
    return note(object, {server_event::kind::left, 0, 0, {}}, done, data);
  }

  static pmix_status_t abort(const pmix_proc_t*, void* object, int status, const char message[],
                             pmix_proc_t[], std::size_t, pmix_op_cbfunc_t done, void* data) {
    return note(object, {server_event::kind::abort, 0, status, message == nullptr ? "" : message}, done,
                data);
  }

  // PMIx calls when all ranks have come. They are all here, so the collected data are complete as they are;
  // the caller gave them to us and gets them back with the means to free them.
  static pmix_status_t fence(const pmix_proc_t[], std::size_t, const pmix_info_t info[],
                             std::size_t info_count, char* collected, std::size_t size,
                             pmix_modex_cbfunc_t done, void* data) {
    done(local_status(info, info_count), collected, size, data, std::free, collected);
    return PMIX_SUCCESS;
  }

  static pmix_status_t modex(const pmix_proc_t* process, const pmix_info_t[], std::size_t,
                             pmix_modex_cbfunc_t done, void* data) {
    auto request = std::make_unique<modex_request>(modex_request{done, data});
    const pmix_status_t status = PMIx_server_dmodex_request(process, answer_modex, request.get());
    if (status == PMIX_SUCCESS) static_cast<void>(request.release());
    return status;
  }

  // Every event that we know of is sent to all ranks anyway.
  static pmix_status_t register_events(pmix_status_t*, std::size_t, const pmix_info_t[], std::size_t,
                                       pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
  }
  static pmix_status_t deregister_events(pmix_status_t*, std::size_t, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
  }

private:
  static pmix_status_t note(void* object, server_event event, pmix_op_cbfunc_t done, void* data) {
    const auto* source = static_cast<const client*>(object);
    event.rank = source->rank;
    source->server->sink_(event);
    if (done != nullptr) done(PMIX_SUCCESS, data);
    return PMIX_SUCCESS;
  }
};

pmix_server::pmix_server(const rank_layout& layout, const std::string& directory, event_sink sink)
    : nspace_(new_nspace()), sink_(std::move(sink)) {
  forget_outer_job();
  pmix_server_module_t module{};
  module.client_connected2 = callbacks::joined;
  module.client_finalized = callbacks::left;
  module.abort = callbacks::abort;
  module.fence_nb = callbacks::fence;
  module.direct_modex = callbacks::modex;
  module.register_events = callbacks::register_events;
  module.deregister_events = callbacks::deregister_events;
  info_array info;
  info.add(PMIX_SERVER_TMPDIR, directory).add(PMIX_SYSTEM_TMPDIR, directory);
  info.add(PMIX_SERVER_TOOL_SUPPORT, false).add(PMIX_SERVER_REMOTE_CONNECTIONS, false);
  accept_own_user_only();
  require_success(PMIx_server_init(&module, info.data(), info.size()), "cannot start the PMIx server");
  register_job(layout);
}

void pmix_server::register_job(const rank_layout& layout) {
  info_array job;
  job.add(PMIX_JOBID, nspace_).add(PMIX_JOB_SIZE, layout.ranks()).add(PMIX_UNIV_SIZE, layout.ranks());
  job.add(PMIX_MAX_PROCS, layout.ranks()).add(PMIX_JOB_NUM_APPS, std::uint32_t{1});
  job.add(PMIX_NUM_NODES, layout.nodes());
  const c_text nodes = generate(PMIx_generate_regex, layout.node_map());
  const c_text processes = generate(PMIx_generate_ppn, layout.process_map());
  job.add_regex(PMIX_NODE_MAP, nodes.get()).add_regex(PMIX_PROC_MAP, processes.get());
  for (std::uint32_t node = 0; node < layout.nodes(); ++node)
    describe_node(job, layout, node);
  for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank)
    describe_process(job, layout, rank);
  pmix_status_t status = PMIx_server_register_nspace(nspace_.c_str(), static_cast<int>(layout.ranks()),
                                                     job.data(), job.size(), nullptr, nullptr);
  if (status != PMIX_OPERATION_SUCCEEDED) require_success(status, "cannot register the job");

  clients_.reserve(layout.ranks());
  for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank) {
    clients_.push_back({this, rank});
    const pmix_proc_t name = process_name(nspace_, rank);
    status = PMIx_server_register_client(&name, geteuid(), getegid(), &clients_.back(), nullptr, nullptr);
    if (status != PMIX_OPERATION_SUCCEEDED) require_success(status, "cannot register a rank");
  }
}

std::vector<std::string> pmix_server::added_environment(std::uint32_t rank) const {
  const pmix_proc_t name = process_name(nspace_, rank);
  char** added = nullptr;
  require_success(PMIx_server_setup_fork(&name, &added), "cannot set up a rank's environment");
  std::vector<std::string> result;
  for (char** entry = added; entry != nullptr && *entry != nullptr; ++entry) {
    result.emplace_back(*entry);
    std::free(*entry);
  }
  std::free(added);
  result.push_back(std::string(started_by_us) + std::to_string(clients_.size()) + " " + nspace_);
  return result;
}

void pmix_server::report_death(std::uint32_t rank) {
  const pmix_proc_t name = process_name(nspace_, rank);
  info_array info;
  info.add(PMIX_EVENT_AFFECTED_PROC, name);
  PMIx_Notify_event(PMIX_ERR_PROC_ABORTED, &name, PMIX_RANGE_NAMESPACE, info.data(), info.size(), nullptr,
                    nullptr);
}

} // namespace weft::boot
