// Tests functions, control flow of both versions, and lists.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontends/tensorflow/import.h"
#include "tests/tensorflow/one_op.h"

namespace ember::tests {
namespace {

using tensorflow::DT_BOOL;
using tensorflow::DT_FLOAT;
using tensorflow::DT_INT32;
using tensorflow::Flag;
using tensorflow::Function;
using tensorflow::Functions;
using tensorflow::GraphMaker;
using tensorflow::Int;
using tensorflow::MakeInt;
using tensorflow::MakeInts;
using tensorflow::MakeNode;
using tensorflow::MakeScalar;
using tensorflow::ShapeOf;
using tensorflow::Text;
using tensorflow::Type;

TEST(Functions, Calls) {
  GraphMaker graph;
  graph.Placeholder("x", DT_FLOAT, {2});
  // The called function has two results with names, in another order than the
  // operator TopKV2 inside of it.
  graph.Function(
      "top", {"a"},
      {MakeInt("k", 1), MakeNode("best", "TopKV2", {"a", "k:output:0"})},
      {{"where", "best:indices:0"}, {"what", "best:values:0"}});
  graph.Function("twice", {"a"},
                 {MakeNode("sum", "AddV2", {"a", "a"}),
                  MakeNode("call", "top", {"sum:z:0"})},
                 {{"what", "call:what:0"}, {"where", "call:where:0"}});
  graph.Node("y", "StatefulPartitionedCall", {"x"}, {Function("f", "twice")});
  ExpectNumbers(
      RunBytes(graph.Finish(), {F32({2}, {1, 3})}, {.entry = "->y:0,y:1"}),
      {F32({1}, {6}), I32({1}, {1})});
}

TEST(Functions, ThatCallThemselvesAreRefused) {
  GraphMaker graph;
  graph.Placeholder("x", DT_FLOAT, {2});
  graph.Function("f", {"a"}, {MakeNode("call", "f", {"a"})},
                 {{"r", "call:r:0"}});
  graph.Node("y", "f", {"x"});
  const auto results = RunBytes(graph.Finish(), {F32({2}, {1, 3})});
  ASSERT_FALSE(results.ok());
  EXPECT_NE(results.status().message().find("functions in each other"),
            std::string_view::npos)
      << results.status().ToString();
}

void AddBranches(GraphMaker& graph) {
  graph.Function("add", {"a", "b"}, {MakeNode("r", "AddV2", {"a", "b"})},
                 {{"r", "r:z:0"}});
  graph.Function("subtract", {"a", "b"}, {MakeNode("r", "Sub", {"a", "b"})},
                 {{"r", "r:z:0"}});
  graph.Function("multiply", {"a", "b"}, {MakeNode("r", "Mul", {"a", "b"})},
                 {{"r", "r:z:0"}});
}

TEST(Version2, If) {
  GraphMaker graph;
  graph.Placeholder("p", DT_BOOL, {});
  graph.Placeholder("x", DT_FLOAT, {2});
  graph.Placeholder("y", DT_FLOAT, {2});
  AddBranches(graph);
  graph.Node(
      "z", "StatelessIf", {"p", "x", "y"},
      {Function("then_branch", "add"), Function("else_branch", "subtract")});
  const std::vector<Numbers> xy = {F32({2}, {5, 6}), F32({2}, {1, 2})};
  ExpectNumbers(RunBytes(graph.Finish(), {Bool({}, {1}), xy[0], xy[1]}),
                {F32({2}, {6, 8})});
  ExpectNumbers(RunBytes(graph.Finish(), {Bool({}, {0}), xy[0], xy[1]}),
                {F32({2}, {4, 4})});
}

TEST(Version2, Case) {
  GraphMaker graph;
  graph.Placeholder("i", DT_INT32, {});
  graph.Placeholder("x", DT_FLOAT, {});
  graph.Placeholder("y", DT_FLOAT, {});
  AddBranches(graph);
  graph.Node("z", "Case", {"i", "x", "y"},
             {Functions("branches", {"add", "subtract", "multiply"})});
  const auto run = [&](double index) {
    return RunBytes(graph.Finish(),
                    {I32({}, {index}), F32({}, {5}), F32({}, {2})});
  };
  ExpectNumbers(run(0), {F32({}, {7})});
  ExpectNumbers(run(1), {F32({}, {3})});
  ExpectNumbers(run(2), {F32({}, {10})});
  // An index that is out of range (7, -1) selects the last branch.
  ExpectNumbers(run(7), {F32({}, {10})});
  ExpectNumbers(run(-1), {F32({}, {10})});
}

TEST(Version2, WhileWithAList) {
  // The loop computes total += x; list[i] = total, for i in 0 … n.
  GraphMaker graph;
  graph.Placeholder("n", DT_INT32, {});
  graph.Placeholder("x", DT_FLOAT, {2});
  graph.Function("holds", {"i", "n", "total", "x", "list"},
                 {MakeNode("less", "Less", {"i", "n"})}, {{"r", "less:z:0"}});
  graph.Function(
      "turn", {"i", "n", "total", "x", "list"},
      {MakeInt("one", 1), MakeNode("next", "AddV2", {"i", "one:output:0"}),
       MakeNode("sum", "AddV2", {"total", "x"}),
       MakeNode("write", "TensorListSetItem", {"list", "i", "sum:z:0"})},
      {{"i_out", "next:z:0"},
       {"n_out", "n"},
       {"total_out", "sum:z:0"},
       {"x_out", "x"},
       {"list_out", "write:output_handle:0"}});
  graph.Add(MakeInt("zero", 0));
  graph.Node("zeros", "ZerosLike", {"x"});
  // The list is made without the shape of its elements. The shape follows only
  // from the write in the loop.
  graph.Add(MakeInt("no_shape", -1));
  graph.Node("list", "TensorListReserve", {"no_shape", "n"},
             {Type("element_dtype", DT_FLOAT)});
  graph.Node("loop", "While", {"zero", "n", "zeros", "x", "list"},
             {Function("cond", "holds"), Function("body", "turn")});
  graph.Node("stack", "TensorListStack", {"loop:4", "no_shape"},
             {Type("element_dtype", DT_FLOAT)});
  graph.Node("total", "Identity", {"loop:2"});
  ExpectNumbers(RunBytes(graph.Finish(), {I32({}, {3}), F32({2}, {1, 10})}),
                {F32({3, 2}, {1, 10, 2, 20, 3, 30}), F32({2}, {3, 30})});
}

TEST(Version2, ListThatGrows) {
  GraphMaker graph;
  graph.Placeholder("x", DT_FLOAT, {1});
  graph.Add(MakeInts("shape", {1}));
  graph.Add(MakeInt("most", 4));
  graph.Node("empty", "EmptyTensorList", {"shape", "most"},
             {Type("element_dtype", DT_FLOAT)});
  graph.Node("one", "TensorListPushBack", {"empty", "x"});
  graph.Node("double", "AddV2", {"x", "x"});
  graph.Node("two", "TensorListPushBack", {"one", "double"});
  graph.Node("length", "TensorListLength", {"two"});
  graph.Node("pop", "TensorListPopBack", {"two", "shape"});
  graph.Node("popped", "Identity", {"pop:1"});
  graph.Node("rest", "TensorListStack", {"pop", "shape"});
  graph.Node("joined", "TensorListConcatV2", {"two", "shape", "lengths"});
  graph.Add(tensorflow::MakeConst("lengths", tensorflow::DT_INT64, {0}, ""));
  graph.Node("lengths_out", "Identity", {"joined:1"});
  ExpectNumbers(RunBytes(graph.Finish(), {F32({1}, {5})},
                         {.entry = "->length,popped,rest,joined,lengths_out"}),
                {I32({}, {2}), F32({1}, {10}), F32({1, 1}, {5}),
                 F32({2}, {5, 10}), I64({2}, {1, 1})});
}

TEST(Version1, Cond) {
  GraphMaker graph;
  graph.Placeholder("p", DT_BOOL, {});
  graph.Placeholder("x", DT_FLOAT, {2});
  graph.Node("p_id", "Identity", {"p"});
  graph.Node("pivot", "Switch", {"p", "p"});
  graph.Node("on", "Identity", {"pivot:1"});
  graph.Node("switch_add", "Switch", {"x", "p_id"});
  graph.Node("switch_multiply", "Switch", {"x", "p_id"});
  // A constant in a branch has no data input. Only a control input, the
  // branch's pivot, says that it belongs to the branch.
  tensorflow::NodeDef ten = MakeScalar("ten", 10);
  ten.add_input("^on");
  graph.Add(ten);
  graph.Node("sum", "Add", {"switch_add:1", "ten"});
  graph.Node("square", "Mul", {"switch_multiply", "switch_multiply"});
  graph.Node("y", "Merge", {"square", "sum"});
  // A second conditional has the same predicate as the first one and uses its
  // result y.
  graph.Node("again", "Switch", {"y", "p_id"});
  graph.Node("negative", "Neg", {"again"});
  graph.Node("z", "Merge", {"negative", "again:1"});
  graph.Node("index", "Identity", {"y:1"});
  const auto run = [&](double p) {
    return RunBytes(graph.Finish(), {Bool({}, {p}), F32({2}, {3, 4})},
                    {.entry = "->y,z,index"});
  };
  ExpectNumbers(run(1), {F32({2}, {13, 14}), F32({2}, {13, 14}), I32({}, {1})});
  ExpectNumbers(run(0), {F32({2}, {9, 16}), F32({2}, {-9, -16}), I32({}, {0})});
}

TEST(Version1, CondThatIsDecided) {
  // The branch that is not taken may contain unsupported operators.
  GraphMaker graph;
  graph.Placeholder("x", DT_FLOAT, {2});
  graph.Add(
      tensorflow::MakeConst("training", DT_BOOL, {}, std::string(1, '\0')));
  graph.Node("switch", "Switch", {"x", "training"});
  graph.Node("dropped", "Exp", {"switch:1"});
  graph.Node("y", "Merge", {"dropped", "switch"});
  ExpectNumbers(RunBytes(graph.Finish(), {F32({2}, {3, 4})}, {.entry = "->y"}),
                {F32({2}, {3, 4})});
}

// The graph has conditionals in a row, each of which uses the result of the
// previous one.
TEST(Version1, CondsInARow) {
  const auto graph = [](int count, bool nested) {
    GraphMaker graph;
    graph.Placeholder("x", DT_FLOAT, {1});
    graph.Placeholder("p", DT_BOOL, {});
    graph.Placeholder("q", DT_BOOL, {});
    graph.Node("switch_x", "Switch", {"x", "p"});
    graph.Node("last", "Add", {"x", "x"});
    std::string before = "last";
    for (int i = 0; i < count; ++i) {
      const std::string n = std::to_string(i);
      graph.Node("switch_" + n, "Switch", {before, "p"});
      if (nested) {
        // Only one branch of the outer conditional uses the previous result:
        // the one with the inner conditional.
        graph.Node("inner_" + n, "Switch", {"switch_" + n + ":1", "q"});
        graph.Node("then_" + n, "Neg", {"inner_" + n + ":1"});
        graph.Node("else_" + n, "Abs", {"inner_" + n});
        graph.Node("true_" + n, "Merge", {"else_" + n, "then_" + n});
        graph.Node("false_" + n, "Abs", {"switch_x"});
      } else {
        graph.Node("true_" + n, "Neg", {"switch_" + n + ":1"});
        graph.Node("false_" + n, "Abs", {"switch_" + n});
      }
      before = "merge_" + n;
      graph.Node(before, "Merge", {"false_" + n, "true_" + n});
    }
    graph.Node("y", "Add", {before, "q_as_number"});
    graph.Node("q_as_number", "Cast", {"q"},
               {Type("SrcT", DT_BOOL), Type("DstT", DT_FLOAT)});
    return graph.Finish();
  };
  const frontends::ImportOptions options{.entry = "->y"};
  for (const double p : {0.0, 1.0}) {
    ExpectNumbers(
        RunBytes(graph(301, false),
                 {F32({1}, {-2}), Bool({}, {p}), Bool({}, {0})}, options),
        {F32({1}, {4})});
    ExpectNumbers(
        RunBytes(graph(3, true), {F32({1}, {2}), Bool({}, {p}), Bool({}, {1})},
                 options),
        {F32({1}, {p != 0 ? -3.0 : 3.0})});
  }
  const auto import = [&](int count, bool nested) {
    return tensorflow::ImportModelBytes(
               tensorflow::AsBytes(graph(count, nested)), options)
        .status();
  };
  EXPECT_TRUE(import(3000, false).ok()) << import(3000, false).ToString();
  const Status deep = import(3000, true);
  EXPECT_NE(deep.message().find("expected at most 256 branches"),
            std::string_view::npos)
      << deep.ToString();
}

// The loop is while (i < n) { total = total + row[i]; i = i + 1 }: the rows are
// in a TensorArray, and another TensorArray is written.
TEST(Version1, WhileWithTensorArrays) {
  GraphMaker graph;
  graph.Placeholder("rows", DT_FLOAT, {3, 2});
  graph.Add(MakeInt("n", 3));
  graph.Add(MakeInt("zero", 0));
  graph.Add(MakeInt("one", 1));
  graph.Node("range", "Range", {"zero", "n", "one"});
  const auto array = [&](const std::string& name) {
    graph.Node(name, "TensorArrayV3", {"n"},
               {Type("dtype", DT_FLOAT), tensorflow::NoRank("element_shape")});
  };
  array("in");
  array("out");
  graph.Node("scatter", "TensorArrayScatterV3",
             {"in", "range", "rows", "in:1"});
  const auto enter = [&](const std::string& name, const std::string& input,
                         bool constant) {
    graph.Node(name, "Enter", {input},
               {Text("frame_name", "loop"), Flag("is_constant", constant)});
  };
  graph.Add(
      tensorflow::MakeConst("zeros", DT_FLOAT, {2}, std::string(8, '\0')));
  enter("enter_i", "zero", false);
  enter("enter_total", "zeros", false);
  enter("enter_out", "out:1", false);
  enter("enter_n", "n", true);
  enter("enter_in", "in", true);
  enter("enter_flow", "scatter", true);
  enter("enter_handle", "out", true);
  for (const std::string name : {"i", "total", "out"}) {
    graph.Node("merge_" + name, "Merge", {"enter_" + name, "next_" + name});
    graph.Node("switch_" + name, "Switch", {"merge_" + name, "cond"});
    graph.Node("exit_" + name, "Exit", {"switch_" + name});
    graph.Node("id_" + name, "Identity", {"switch_" + name + ":1"});
  }
  graph.Node("less", "Less", {"merge_i", "enter_n"});
  graph.Node("cond", "LoopCond", {"less"});
  tensorflow::NodeDef step = MakeInt("step", 1);
  step.add_input("^id_i");
  graph.Add(step);
  graph.Node("add_i", "Add", {"id_i", "step"});
  graph.Node("next_i", "NextIteration", {"add_i"});
  graph.Node("row", "TensorArrayReadV3", {"enter_in", "id_i", "enter_flow"},
             {Type("dtype", DT_FLOAT)});
  graph.Node("add_total", "Add", {"id_total", "row"});
  graph.Node("next_total", "NextIteration", {"add_total"});
  graph.Node("write", "TensorArrayWriteV3",
             {"enter_handle", "id_i", "add_total", "id_out"});
  graph.Node("next_out", "NextIteration", {"write"});
  graph.Node("size", "TensorArraySizeV3", {"out", "exit_out"});
  graph.Node("all", "TensorArrayGatherV3", {"out", "range", "exit_out"},
             {Type("dtype", DT_FLOAT)});
  graph.Node("count", "Identity", {"exit_i"});
  graph.Node("total", "Identity", {"exit_total"});
  ExpectNumbers(RunBytes(graph.Finish(), {F32({3, 2}, {1, 2, 3, 4, 5, 6})},
                         {.entry = "->count,total,all,size"}),
                {I32({}, {3}), F32({2}, {9, 12}),
                 F32({3, 2}, {1, 2, 4, 6, 9, 12}), I32({}, {3})});
}

TEST(Version1, LoopsInLoops) {
  // The graph has nested loops: for i in 0 … 3: for j in 0 … i: total += x.
  GraphMaker graph;
  graph.Placeholder("x", DT_FLOAT, {});
  graph.Add(MakeInt("three", 3));
  graph.Add(MakeInt("zero", 0));
  graph.Add(MakeScalar("nothing", 0));
  const auto enter = [&](const std::string& frame, const std::string& name,
                         const std::string& input) {
    graph.Node(name, "Enter", {input}, {Text("frame_name", frame)});
  };
  const auto carried = [&](const std::string& name, const std::string& cond) {
    graph.Node("merge_" + name, "Merge", {"enter_" + name, "next_" + name});
    graph.Node("switch_" + name, "Switch", {"merge_" + name, cond});
    graph.Node("exit_" + name, "Exit", {"switch_" + name});
    graph.Node("id_" + name, "Identity", {"switch_" + name + ":1"});
  };
  enter("outer", "enter_i", "zero");
  enter("outer", "enter_t", "nothing");
  enter("outer", "outer_n", "three");
  enter("outer", "outer_x", "x");
  carried("i", "outer_cond");
  carried("t", "outer_cond");
  graph.Node("outer_less", "Less", {"merge_i", "outer_n"});
  graph.Node("outer_cond", "LoopCond", {"outer_less"});
  tensorflow::NodeDef start = MakeInt("start", 0);
  start.add_input("^id_i");
  graph.Add(start);
  enter("inner", "enter_j", "start");
  enter("inner", "enter_u", "id_t");
  enter("inner", "inner_i", "id_i");
  enter("inner", "inner_x", "outer_x");
  carried("j", "inner_cond");
  carried("u", "inner_cond");
  graph.Node("inner_less", "Less", {"merge_j", "inner_i"});
  graph.Node("inner_cond", "LoopCond", {"inner_less"});
  tensorflow::NodeDef one = MakeInt("one", 1);
  one.add_input("^id_j");
  graph.Add(one);
  graph.Node("add_j", "Add", {"id_j", "one"});
  graph.Node("next_j", "NextIteration", {"add_j"});
  graph.Node("add_u", "Add", {"id_u", "inner_x"});
  graph.Node("next_u", "NextIteration", {"add_u"});
  tensorflow::NodeDef two = MakeInt("step", 1);
  two.add_input("^id_i");
  graph.Add(two);
  graph.Node("add_i", "Add", {"id_i", "step"});
  graph.Node("next_i", "NextIteration", {"add_i"});
  graph.Node("next_t", "NextIteration", {"exit_u"});
  graph.Node("y", "Identity", {"exit_t"});
  ExpectNumbers(RunBytes(graph.Finish(), {F32({}, {2})}, {.entry = "->y"}),
                {F32({}, {6})});
}

}  // namespace
}  // namespace ember::tests
