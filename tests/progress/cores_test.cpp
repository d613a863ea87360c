// SPDX-License-Identifier: BSD-3-Clause
#include "progress/driving/cores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <string>

namespace {

namespace fs = std::filesystem;
using weft::progress::affinity_cores;
using weft::progress::mode;
using weft::progress::quota_cores;
using weft::progress::resolve;
using weft::progress::usable_cores;

// A made-up root with the files of proc and sys that a test wants.
class cores : public ::testing::Test {
protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "weft-cores-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream{root_ / path} << text;
  }
  double quota() const { return quota_cores(root_); }

  fs::path root_;
};

TEST_F(cores, nothing_readable_limits_nothing) {
  EXPECT_TRUE(std::isinf(quota()));
  write("proc/self/cgroup", "0::/job\n");
  EXPECT_TRUE(std::isinf(quota()));
  write("sys/fs/cgroup/job/cpu.max", "nonsense\n");
  EXPECT_TRUE(std::isinf(quota()));
  EXPECT_EQ(usable_cores(root_), affinity_cores());
}

TEST_F(cores, reads_a_quota_of_version_2) {
  write("proc/self/cgroup", "0::/job/step\n");
  write("sys/fs/cgroup/job/step/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(quota(), 1.5);
  write("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  EXPECT_TRUE(std::isinf(quota()));
}

// Caught here: a look at the own group only.
TEST_F(cores, the_tightest_limit_on_the_way_up_holds) {
  write("proc/self/cgroup", "0::/job/step/task\n");
  write("sys/fs/cgroup/job/step/task/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/job/step/cpu.max", "400000 100000\n");
  write("sys/fs/cgroup/job/cpu.max", "50000 100000\n");
  write("sys/fs/cgroup/other/cpu.max", "10000 100000\n");
  EXPECT_DOUBLE_EQ(quota(), 0.5);
}

TEST_F(cores, a_path_of_the_host_ends_at_the_containers_own_group) {
  write("proc/self/cgroup", "0::/system.slice/container-7\n");
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_DOUBLE_EQ(quota(), 2);
  write("proc/self/cgroup", "0::/../../elsewhere\n");
  EXPECT_DOUBLE_EQ(quota(), 2);
}

TEST_F(cores, reads_a_quota_of_version_1) {
  write("proc/self/cgroup", "5:memory:/\n4:cpu,cpuacct:/job\n1:name=systemd:/\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "50000\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_TRUE(std::isinf(quota()));
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "175000\n");
  EXPECT_DOUBLE_EQ(quota(), 3.5);
  write("proc/self/cgroup", "5:memory:/\n4:cpuset:/job\n");
  EXPECT_TRUE(std::isinf(quota())) << "another controller's group";
}

TEST_F(cores, the_tighter_of_both_versions_holds) {
  write("proc/self/cgroup", "1:cpu:/\n0::/\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
  EXPECT_DOUBLE_EQ(quota(), 3);
  write("sys/fs/cgroup/unified/cpu.max", "250000 100000\n");
  EXPECT_DOUBLE_EQ(quota(), 2.5);
}

TEST_F(cores, usable_is_the_smaller_of_mask_and_quota) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(affinity_cores(), CPU_COUNT(&before));

  int cpu = 0;
  while (!CPU_ISSET(cpu, &before))
    ++cpu;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(affinity_cores(), 1);
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "1000000 100000\n");
  EXPECT_EQ(usable_cores(root_), 1);
  write("sys/fs/cgroup/cpu.max", "25000 100000\n");
  EXPECT_DOUBLE_EQ(usable_cores(root_), 0.25);
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
}

TEST_F(cores, this_machine_has_some) {
  EXPECT_GT(usable_cores(), 0);
  EXPECT_LE(usable_cores(), affinity_cores());
}

TEST(mode, a_request_is_kept) {
  for (const mode wanted : {mode::dedicated, mode::helping, mode::caller}) {
    EXPECT_EQ(resolve(wanted, 64, 1, 1), wanted);
    EXPECT_EQ(resolve(wanted, 0.5, 8, 8), wanted);
  }
}

TEST(mode, automatic_follows_the_cores_per_rank) {
  EXPECT_EQ(resolve(mode::automatic, 4, 2, 2), mode::dedicated);
  EXPECT_EQ(resolve(mode::automatic, 3.9, 2, 2), mode::helping);
  EXPECT_EQ(resolve(mode::automatic, 2, 2, 2), mode::helping);
  EXPECT_EQ(resolve(mode::automatic, 2, 8, 8), mode::helping);
}

TEST(mode, a_rank_without_peers_needs_no_thread) {
  EXPECT_EQ(resolve(mode::automatic, 8, 1, 1), mode::caller);
  EXPECT_EQ(resolve(mode::automatic, 8, 1, 2), mode::dedicated) << "alone on its node, not in the job";
}

} // namespace
