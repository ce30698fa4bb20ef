// The table of the features that describe a loop nest to cost models. If
// NestFeatures does not compute a row, a check in it fails. Trained trees
// (tree_table.h) refer to features by their position here, so kFeatureVersion
// (nest_features.h) changes whenever the table does.
//
// Numbers that are not said to be a share or a ratio are log2(1 + x). A number
// "to" another one is log2(1/64 + their quotient). "The ideal" is a lower
// estimate of the cycles, nearly the same for all schedules of a dispatch: the
// arithmetic in full vectors, or the transfer of the operands and results,
// whichever takes longer.
#ifndef EMBER_TUNE_MODEL_FEATURE_TABLE_H_
#define EMBER_TUNE_MODEL_FEATURE_TABLE_H_

#include <cstddef>

namespace ember::tune {

// clang-format off
// Rows: (constant, name, doc).
#define EMBER_FOR_EACH_FEATURE(row) \
  /* The whole call. */ \
  row(Operations, "operations", "operations on elements; a multiply-add counts as 2") \
  row(LaneShare, "lane_share", "share of them that lanes or invocations execute") \
  row(LaneUse, "lane_use", "share of the lanes of arithmetic that hold elements") \
  row(IdealCycles, "ideal_cycles", "cycles of the ideal") \
  row(OperandBytes, "operand_bytes", "bytes of inputs and outputs that are touched") \
  row(TemporaryBytes, "temporary_bytes", "bytes of memory of the call and of tasks") \
  row(PackedBytes, "packed_bytes", "bytes of constants that are packed once") \
  row(Fused, "fused", "multiply-adds, as instructions") \
  row(Floats, "floats", "other simple instructions on floats") \
  row(Slow, "slow", "divisions and roots") \
  row(Functions, "functions", "instructions of transcendental functions") \
  row(Integers, "integers", "instructions on integers that are values") \
  row(Converts, "converts", "casts") \
  row(Selects, "selects", "selects") \
  row(Dots, "dots", "dot products, as instructions") \
  row(Matrices, "matrices", "products of matrices, as instructions") \
  row(IndexInstructions, "index_instructions", "arithmetic of indices") \
  row(IndexDivisions, "index_divisions", "divisions and remainders of indices") \
  row(VectorLoads, "vector_loads", "loads of neighbours") \
  row(ScalarLoads, "scalar_loads", "loads of one element, for one lane or all") \
  row(StridedLanes, "strided_lanes", "elements loaded a few elements apart") \
  row(GatheredLanes, "gathered_lanes", "elements loaded from anywhere") \
  row(VectorStores, "vector_stores", "stores of neighbours") \
  row(ScalarStores, "scalar_stores", "stores of one element") \
  row(ScatteredLanes, "scattered_lanes", "elements stored apart from each other") \
  row(Masked, "masked", "loads and stores of some of the lanes") \
  row(Pads, "pads", "tests of indices for padding") \
  row(Guards, "guards", "conditions") \
  row(Checks, "checks", "checks of indices from data") \
  row(Prefetches, "prefetches", "prefetches") \
  row(Barriers, "barriers", "barriers") \
  row(Iterations, "iterations", "iterations of serial loops") \
  row(LoopEntries, "loop_entries", "times that serial loops begin") \
  row(CodeInstructions, "code_instructions", "instructions in the code, after unrolling") \
  row(LargestBody, "largest_body", "instructions of the largest body of a loop") \
  /* Memory. */ \
  row(TouchedBytes, "touched_bytes", "bytes of the lines that a call touches") \
  row(TaskBytes, "task_bytes", "bytes of the lines that the largest task touches") \
  row(L1Bytes, "l1_bytes", "bytes that the first cache misses") \
  row(L2Bytes, "l2_bytes", "bytes that the second cache misses") \
  row(L3Bytes, "l3_bytes", "bytes that the third cache misses") \
  /* Tasks. */ \
  row(Phases, "phases", "phases") \
  row(Tasks, "tasks", "tasks of all phases") \
  row(FewestTasks, "fewest_tasks", "tasks of the phase with the fewest, of those that matter") \
  row(Balance, "balance", "share of the time in which a thread has work, log2") \
  row(Invocations, "invocations", "invocations of a workgroup") \
  row(SharedBytes, "shared_bytes", "bytes of memory of a workgroup") \
  /* The following rows are costs of a call, compared with the ideal. */ \
  row(ArithmeticRatio, "arithmetic_ratio", "cycles of arithmetic to the ideal") \
  row(LoadRatio, "load_ratio", "cycles of loads to the ideal") \
  row(StoreRatio, "store_ratio", "cycles of stores to the ideal") \
  row(IssueRatio, "issue_ratio", "cycles to issue all instructions to the ideal") \
  row(ChainRatio, "chain_ratio", "latency of chains of updates to the ideal") \
  row(SpillRatio, "spill_ratio", "cycles of spilled registers to the ideal") \
  row(LoopRatio, "loop_ratio", "cycles of loops to the ideal") \
  row(L1Ratio, "l1_ratio", "cycles of misses of the first cache to the ideal") \
  row(L2Ratio, "l2_ratio", "cycles of misses of the second cache to the ideal") \
  row(L3Ratio, "l3_ratio", "cycles of misses of the third cache to the ideal") \
  row(GatherRatio, "gather_ratio", "elements loaded and stored apart to the ideal") \
  row(BodyRatio, "body_ratio", "cycles of all bodies, each by its slowest unit, to the ideal") \
  row(EstimateRatio, "estimate_ratio", "the estimate of the whole call to the ideal") \
  row(EstimateCycles, "estimate_cycles", "cycles of the estimate, on all threads") \
  /* The following rows describe the loop body that takes most of the time. */ \
  row(HotShare, "hot_share", "its share of the cycles of all bodies") \
  row(HotTrips, "hot_trips", "iterations of its loop each time") \
  row(HotEntries, "hot_entries", "times that its loop begins") \
  row(HotDepth, "hot_depth", "loops around it") \
  row(HotLaneUse, "hot_lane_use", "share of its lanes that hold elements") \
  row(HotCode, "hot_code", "its instructions, after unrolling") \
  row(HotTile, "hot_tile", "registers of its tiles") \
  row(HotTileRatio, "hot_tile_ratio", "those to the registers that there are") \
  row(HotFusedShare, "hot_fused_share", "share of its instructions that are multiply-adds or dots") \
  row(HotLoadsPerFused, "hot_loads_per_fused", "loads to multiply-adds") \
  row(HotArithmetic, "hot_arithmetic", "cycles of arithmetic to those of the slowest unit") \
  row(HotLoads, "hot_loads", "cycles of loads to those of the slowest unit") \
  row(HotStores, "hot_stores", "cycles of stores to those of the slowest unit") \
  row(HotIssue, "hot_issue", "cycles of issue to those of the slowest unit") \
  row(HotChain, "hot_chain", "latency of chains to the cycles of the slowest unit") \
  row(HotGathers, "hot_gathers", "elements loaded apart to its instructions") \
  row(HotGuards, "hot_guards", "guards and masked accesses to its instructions") \
  row(HotBytes, "hot_bytes", "bytes that its loop touches") \
  row(HotBytesToL1, "hot_bytes_to_l1", "those to the first cache") \
  row(HotOuterBytesToL1, "hot_outer_bytes_to_l1", "bytes of the loop around it to the first cache") \
  row(HotOuterBytesToL2, "hot_outer_bytes_to_l2", "the same to the second cache") \
  row(HotNextBytesToL2, "hot_next_bytes_to_l2", "bytes of the loop around that one to the second cache") \
  row(HotTaskBytesToL2, "hot_task_bytes_to_l2", "bytes of its task to the second cache") \
  /* The target. */ \
  row(IsGpu, "is_gpu", "1 for a GPU") \
  row(VectorBytes, "vector_bytes", "bytes of a vector") \
  row(Registers, "registers", "vector registers, or registers of an invocation") \
  row(HasFma, "has_fma", "1 if there are multiply-adds") \
  row(HasMasks, "has_masks", "1 if some lanes are stored as fast as all") \
  row(HasDots, "has_dots", "1 for dots of 16-bit numbers, 2 for bytes, 4 for bf16; summed") \
  row(HasMatrices, "has_matrices", "1 if there are products of matrices") \
  row(L1Size, "l1_size", "bytes of the first cache") \
  row(L2Size, "l2_size", "bytes of the second cache") \
  row(L3Size, "l3_size", "bytes of the third cache") \
  row(Cores, "cores", "threads, or processors of a GPU")
// clang-format on

enum class Feature : size_t {
#define EMBER_ROW(constant, ...) k##constant,
  EMBER_FOR_EACH_FEATURE(EMBER_ROW)
#undef EMBER_ROW
};

inline constexpr size_t kFeatureCount = 0
#define EMBER_ROW(...) +1
    EMBER_FOR_EACH_FEATURE(EMBER_ROW)
#undef EMBER_ROW
    ;

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_FEATURE_TABLE_H_
