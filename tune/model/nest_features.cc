#include "tune/model/nest_features.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/target_text.h"
#include "tune/model/body_work.h"
#include "tune/model/feature_table.h"
#include "tune/model/loop_tree.h"
#include "tune/model/machine.h"
#include "tune/model/memory_traffic.h"

namespace ember::tune {
namespace {

using loops::MemoryScope;

constexpr std::string_view kNames[] = {
#define EMBER_ROW(constant, name, doc) name,
    EMBER_FOR_EACH_FEATURE(EMBER_ROW)
#undef EMBER_ROW
};

// Bytes per cycle that a core gets from the second cache, the third cache and
// memory. They are common values of the 2020s; only their ratios matter.
constexpr double kRateOfL2 = 32, kRateOfL3 = 12, kRateOfMemory = 4;
// Cycles of overhead: for each iteration of a loop, each entry of a loop, each
// task, each phase, and each start of the threads.
constexpr double kCyclesOfIteration = 1, kCyclesOfEntry = 8;
constexpr double kCyclesOfTask = 60, kCyclesOfPhase = 400;
constexpr double kCyclesOfThreads = 4000;
// Computing and fetching data overlap. This share of the shorter of the two
// times does not overlap with the longer one.
constexpr double kUnhidden = 0.3;

double Log(double x) { return std::log2(1 + std::max(x, 0.0)); }
double Ratio(double a, double b) {
  constexpr double kLeast = 1.0 / 64;
  return std::log2(kLeast + (b > 0 ? std::max(a, 0.0) / b : 0));
}
double ShareOf(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

// Computes all features of one loop nest.
class Features {
 public:
  Features(const loops::LoopNest& nest, std::span<const int64_t> parameters,
           const Machine& machine)
      : nest_(nest),
        machine_(machine),
        tree_(nest, parameters, machine.is_gpu),
        traffic_(tree_),
        work_(WorkOf(tree_, machine)),
        cycles_(work_.size()),
        values_(kFeatureCount, std::numeric_limits<float>::quiet_NaN()) {}

  std::vector<float> Compute() {
    for (size_t i = 0; i < work_.size(); ++i) {
      total_.Add(work_[i]);
      cycles_[i] = CyclesOfBody(i);
      body_cycles_ += cycles_[i];
    }
    FindIdeal();
    SetWork();
    SetLoops();
    SetMemory();
    SetTasks();
    SetRatios();
    SetHotBody();
    SetTarget();
    for (size_t i = 0; i < values_.size(); ++i)
      EMBER_CHECK(std::isfinite(values_[i])) << kNames[i];
    return values_;
  }

 private:
  void Set(Feature feature, double value) {
    values_[static_cast<size_t>(feature)] = static_cast<float>(value);
  }

  double IterationsOf(size_t loop) const {
    return tree_.loops()[loop].runs * tree_.loops()[loop].extent;
  }

  // Returns the estimated cycles of a loop's body: those of the slowest unit of
  // a core (arithmetic, loads, stores, …), plus those of spilled registers.
  double CyclesOfBody(size_t loop) const {
    const BodyWork& work = work_[loop];
    return std::max({work.ArithmeticCycles(), work.LoadCycles(),
                     work.StoreCycles(), work.IssueCycles(),
                     work.chain_cycles}) +
           work.SpillCycles(machine_, IterationsOf(loop));
  }

  double BytesIn(MemoryScope scope) const {
    double bytes = 0;
    for (size_t i = 0; i < nest_.buffers.size(); ++i) {
      if (nest_.buffers[i].scope == scope)
        bytes += tree_.BytesOf(static_cast<uint32_t>(i));
    }
    return bytes;
  }

  void FindIdeal() {
    // The ideal arithmetic does two vector multiply-adds in each cycle, that
    // is, 4 operations for each lane.
    const double arithmetic =
        total_.operations / (4 * machine_.Lanes(DType::kF32));
    // A kernel reads packed copies of constants in place of the inputs from
    // which they are made, so both kinds of buffers count as operands.
    operand_bytes_ = BytesIn(MemoryScope::kOutput);
    operand_bytes_ +=
        std::min(BytesIn(MemoryScope::kInput) + BytesIn(MemoryScope::kPacked),
                 std::max(traffic_.BytesOfCall(), 1.0));
    ideal_ = std::max(arithmetic, operand_bytes_ / kRateOfL2);
  }

  void SetWork() {
    Set(Feature::kOperations, Log(total_.operations));
    Set(Feature::kLaneShare,
        ShareOf(total_.lane_operations, total_.operations));
    Set(Feature::kLaneUse, ShareOf(total_.lanes_used, total_.lane_places));
    Set(Feature::kIdealCycles, Log(ideal_));
    Set(Feature::kOperandBytes, Log(operand_bytes_));
    Set(Feature::kTemporaryBytes,
        Log(BytesIn(MemoryScope::kCall) + BytesIn(MemoryScope::kTask)));
    Set(Feature::kPackedBytes, Log(BytesIn(MemoryScope::kPacked)));
    Set(Feature::kFused, Log(total_.fused));
    Set(Feature::kFloats, Log(total_.floats));
    Set(Feature::kSlow, Log(total_.slow));
    Set(Feature::kFunctions, Log(total_.functions));
    Set(Feature::kIntegers, Log(total_.integers));
    Set(Feature::kConverts, Log(total_.converts));
    Set(Feature::kSelects, Log(total_.selects));
    Set(Feature::kDots, Log(total_.dots));
    Set(Feature::kMatrices, Log(total_.matrices));
    Set(Feature::kIndexInstructions, Log(total_.index_instructions));
    Set(Feature::kIndexDivisions, Log(total_.index_divisions));
    Set(Feature::kVectorLoads, Log(total_.vector_loads));
    Set(Feature::kScalarLoads, Log(total_.scalar_loads));
    Set(Feature::kStridedLanes, Log(total_.strided_lanes));
    Set(Feature::kGatheredLanes, Log(total_.gathered_lanes));
    Set(Feature::kVectorStores, Log(total_.vector_stores));
    Set(Feature::kScalarStores, Log(total_.scalar_stores));
    Set(Feature::kScatteredLanes, Log(total_.scattered_lanes));
    Set(Feature::kMasked, Log(total_.masked));
    Set(Feature::kPads, Log(total_.pads));
    Set(Feature::kGuards, Log(total_.guards));
    Set(Feature::kChecks, Log(total_.checks));
    Set(Feature::kPrefetches, Log(total_.prefetches));
    Set(Feature::kBarriers, Log(total_.barriers));
  }

  void SetLoops() {
    double iterations = 0, entries = 0, largest = 0;
    for (size_t i = 0; i < work_.size(); ++i) {
      largest = std::max(largest, work_[i].code_instructions);
      if (tree_.loops()[i].role != LoopRole::kSerial) continue;
      iterations += IterationsOf(i);
      entries += tree_.loops()[i].runs;
    }
    loop_cycles_ = kCyclesOfIteration * iterations + kCyclesOfEntry * entries;
    Set(Feature::kIterations, Log(iterations));
    Set(Feature::kLoopEntries, Log(entries));
    Set(Feature::kCodeInstructions, Log(total_.code_instructions));
    Set(Feature::kLargestBody, Log(largest));
  }

  void SetMemory() {
    double task_bytes = 0;
    for (size_t i = 0; i < work_.size(); ++i) {
      if (tree_.loops()[i].role == LoopRole::kTasks) {
        task_bytes = std::max(task_bytes,
                              traffic_.BytesOfIteration(static_cast<int>(i)));
      }
    }
    Set(Feature::kTouchedBytes, Log(traffic_.BytesOfCall()));
    Set(Feature::kTaskBytes, Log(task_bytes));
    Set(Feature::kL1Bytes, Log(traffic_.BytesBeyond(machine_.l1_bytes)));
    Set(Feature::kL2Bytes, Log(traffic_.BytesBeyond(machine_.l2_bytes)));
    Set(Feature::kL3Bytes, Log(traffic_.BytesBeyond(machine_.l3_bytes)));
  }

  // Returns the cycles that one thread would need for all tasks of the phase.
  double CyclesOfPhase(int phase) {
    double computing = 0;
    for (size_t i = 0; i < work_.size(); ++i) {
      if (tree_.loops()[i].phase != phase) continue;
      computing += cycles_[i];
      if (tree_.loops()[i].role == LoopRole::kSerial) {
        computing += kCyclesOfIteration * IterationsOf(i) +
                     kCyclesOfEntry * tree_.loops()[i].runs;
      }
    }
    const double fetching =
        traffic_.BytesBeyond(machine_.l1_bytes, phase) / kRateOfL2 +
        traffic_.BytesBeyond(machine_.l2_bytes, phase) / kRateOfL3 +
        traffic_.BytesBeyond(machine_.l3_bytes, phase) / kRateOfMemory;
    return std::max(computing, fetching) +
           kUnhidden * std::min(computing, fetching);
  }

  void SetTasks() {
    double tasks = 0, fewest = 0, serial = 0, most_cycles = 0, invocations = 1;
    for (size_t i = 0; i < work_.size(); ++i) {
      const TreeLoop& loop = tree_.loops()[i];
      if (loop.role == LoopRole::kInvocations)
        invocations = std::max(invocations, loop.extent);
      if (loop.role != LoopRole::kTasks) continue;
      const double cycles =
          CyclesOfPhase(loop.phase) + kCyclesOfTask * loop.extent;
      const double rounds = std::ceil(loop.extent / machine_.cores);
      const double threads =
          rounds > 0 ? std::max(loop.extent, 1.0) / rounds : 1;
      tasks += loop.extent;
      serial += cycles;
      estimate_ += cycles / threads + kCyclesOfPhase;
      if (threads > 1) estimate_ += kCyclesOfThreads;
      if (cycles > most_cycles) {
        most_cycles = cycles;
        fewest = loop.extent;
      }
    }
    Set(Feature::kPhases, Log(static_cast<double>(nest_.phases.size())));
    Set(Feature::kTasks, Log(tasks));
    Set(Feature::kFewestTasks, Log(fewest));
    Set(Feature::kBalance, Ratio(serial, estimate_ * machine_.cores));
    Set(Feature::kInvocations, Log(invocations));
    Set(Feature::kSharedBytes,
        Log(machine_.is_gpu ? BytesIn(MemoryScope::kTask) : 0));
  }

  void SetRatios() {
    double spills = 0, chains = 0;
    for (size_t i = 0; i < work_.size(); ++i) {
      spills += work_[i].SpillCycles(machine_, IterationsOf(i));
      chains += work_[i].chain_cycles;
    }
    const auto set = [&](Feature feature, double cycles) {
      Set(feature, Ratio(cycles, ideal_));
    };
    set(Feature::kArithmeticRatio, total_.ArithmeticCycles());
    set(Feature::kLoadRatio, total_.LoadCycles());
    set(Feature::kStoreRatio, total_.StoreCycles());
    set(Feature::kIssueRatio, total_.IssueCycles());
    set(Feature::kChainRatio, chains);
    set(Feature::kSpillRatio, spills);
    set(Feature::kLoopRatio, loop_cycles_);
    set(Feature::kL1Ratio, traffic_.BytesBeyond(machine_.l1_bytes) / kRateOfL2);
    set(Feature::kL2Ratio, traffic_.BytesBeyond(machine_.l2_bytes) / kRateOfL3);
    set(Feature::kL3Ratio,
        traffic_.BytesBeyond(machine_.l3_bytes) / kRateOfMemory);
    set(Feature::kGatherRatio,
        total_.strided_lanes + total_.gathered_lanes + total_.scattered_lanes);
    set(Feature::kBodyRatio, body_cycles_);
    set(Feature::kEstimateRatio, estimate_);
    Set(Feature::kEstimateCycles, Log(estimate_));
  }

  void SetHotBody() {
    const auto hot = static_cast<size_t>(std::ranges::max_element(cycles_) -
                                         cycles_.begin());
    const BodyWork none;
    const bool has_body = hot < work_.size();
    const BodyWork& work = has_body ? work_[hot] : none;
    const TreeLoop loop = has_body ? tree_.loops()[hot] : TreeLoop{};
    const double cycles = has_body ? cycles_[hot] : 0;
    const double fused = work.fused + work.dots + work.matrices;
    const double instructions = work.Instructions();
    Set(Feature::kHotShare, ShareOf(cycles, body_cycles_));
    Set(Feature::kHotTrips, Log(loop.extent));
    Set(Feature::kHotEntries, Log(loop.runs));
    std::vector<int> chain;
    if (has_body) chain = tree_.ChainOf(static_cast<int>(hot));
    Set(Feature::kHotDepth, static_cast<double>(chain.size()));
    Set(Feature::kHotLaneUse, ShareOf(work.lanes_used, work.lane_places));
    Set(Feature::kHotCode, Log(work.code_instructions));
    Set(Feature::kHotTile, Log(work.tile_registers));
    Set(Feature::kHotTileRatio,
        Ratio(work.tile_registers,
              static_cast<double>(machine_.vector_registers)));
    Set(Feature::kHotFusedShare, ShareOf(fused, instructions));
    Set(Feature::kHotLoadsPerFused, Ratio(2 * work.LoadCycles(), fused));
    Set(Feature::kHotArithmetic, ShareOf(work.ArithmeticCycles(), cycles));
    Set(Feature::kHotLoads, ShareOf(work.LoadCycles(), cycles));
    Set(Feature::kHotStores, ShareOf(work.StoreCycles(), cycles));
    Set(Feature::kHotIssue, ShareOf(work.IssueCycles(), cycles));
    Set(Feature::kHotChain, ShareOf(work.chain_cycles, cycles));
    Set(Feature::kHotGathers,
        ShareOf(work.strided_lanes + work.gathered_lanes + work.scattered_lanes,
                instructions));
    Set(Feature::kHotGuards,
        ShareOf(work.guards + work.masked + work.pads, instructions));
    // Numbers of bytes that the body's accesses touch: in the innermost loop
    // around it, in the next two loops around it, and in one task.
    double bytes[4] = {};
    for (size_t i = 0; i < 3 && i < chain.size(); ++i)
      bytes[i] = traffic_.BytesOfLoop(chain[chain.size() - 1 - i]);
    for (size_t i = 1; i < 3; ++i) bytes[i] = std::max(bytes[i], bytes[i - 1]);
    if (has_body) bytes[3] = traffic_.BytesOfIteration(chain.front());
    Set(Feature::kHotBytes, Log(bytes[0]));
    Set(Feature::kHotBytesToL1, Ratio(bytes[0], machine_.l1_bytes));
    Set(Feature::kHotOuterBytesToL1, Ratio(bytes[1], machine_.l1_bytes));
    Set(Feature::kHotOuterBytesToL2, Ratio(bytes[1], machine_.l2_bytes));
    Set(Feature::kHotNextBytesToL2, Ratio(bytes[2], machine_.l2_bytes));
    Set(Feature::kHotTaskBytesToL2, Ratio(bytes[3], machine_.l2_bytes));
  }

  void SetTarget() {
    Set(Feature::kIsGpu, machine_.is_gpu ? 1 : 0);
    Set(Feature::kVectorBytes, Log(static_cast<double>(machine_.vector_bytes)));
    Set(Feature::kRegisters,
        Log(static_cast<double>(machine_.vector_registers)));
    Set(Feature::kHasFma, machine_.has_fma ? 1 : 0);
    Set(Feature::kHasMasks, machine_.has_masks ? 1 : 0);
    Set(Feature::kHasDots, (machine_.has_short_dots ? 1 : 0) +
                               (machine_.has_byte_dots ? 2 : 0) +
                               (machine_.has_bfloat_dots ? 4 : 0));
    Set(Feature::kHasMatrices, machine_.has_matrices ? 1 : 0);
    Set(Feature::kL1Size, Log(machine_.l1_bytes));
    Set(Feature::kL2Size, Log(machine_.l2_bytes));
    Set(Feature::kL3Size, Log(machine_.l3_bytes));
    Set(Feature::kCores, Log(machine_.cores));
  }

  const loops::LoopNest& nest_;
  const Machine machine_;
  const LoopTree tree_;
  const MemoryTraffic traffic_;
  const std::vector<BodyWork> work_;
  // For each loop: the estimated cycles of its body in a call.
  std::vector<double> cycles_;
  BodyWork total_;
  double body_cycles_ = 0, loop_cycles_ = 0, operand_bytes_ = 0, ideal_ = 0;
  double estimate_ = 0;
  std::vector<float> values_;
};

}  // namespace

std::span<const std::string_view> FeatureNames() { return kNames; }

std::vector<float> NestFeatures(const loops::LoopNest& nest,
                                std::span<const int64_t> parameters,
                                const jit::CpuModel& cpu) {
  return Features(nest, parameters, MachineOf(cpu)).Compute();
}

std::vector<float> NestFeatures(const loops::LoopNest& nest,
                                std::span<const int64_t> parameters,
                                const jit::GpuModel& gpu) {
  return Features(nest, parameters, MachineOf(gpu)).Compute();
}

std::vector<float> NestFeatures(const loops::LoopNest& nest,
                                std::span<const int64_t> parameters,
                                std::string_view target) {
  // Only target texts of GPUs contain "subgroup", so this distinguishes them
  // from CPUs.
  if (TargetText(target).Number("subgroup"))
    return NestFeatures(nest, parameters, jit::GpuModel::Of(target));
  return NestFeatures(nest, parameters, jit::CpuModel::Of(target));
}

}  // namespace ember::tune
