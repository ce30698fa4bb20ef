// Tests the import of binary and text files and of SavedModels with variables,
// the choice of entries, and the errors for wrong files.
#include "frontends/tensorflow/import.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "frontends/registry/formats.h"
#include "frontends/tensorflow/checkpoint.h"
#include "frontends/tensorflow/sorted_table.h"
#include "frontends/tensorflow/testing/checkpoint_writer.h"
#include "frontends/tensorflow/testing/sample_models.h"
#include "tests/tensorflow/one_op.h"

namespace ember::tests {
namespace {

using tensorflow::DT_FLOAT;
using tensorflow::DT_STRING;
using tensorflow::GraphMaker;

std::string ErrorOf(const StatusOr<std::vector<Numbers>>& results) {
  return results.ok() ? "none" : std::string(results.status().message());
}

std::string NewFolder(const std::string& name) {
  const std::string folder = ::testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

// Writes a sample SavedModel to disk, with its checkpoint compressed or not,
// and returns its folder.
std::string Saved(const std::string& name, bool compress) {
  std::string folder = NewFolder(name);
  tensorflow::WriteSavedModel(folder, tensorflow::SampleSavedModel(),
                              tensorflow::SampleCheckpoint(compress));
  return folder;
}

TEST(GraphDefs, BinaryAndTextAreTheSame) {
  const std::string binary = tensorflow::SampleModel("layers");
  const std::string text = tensorflow::SampleModel("text");
  const std::vector<Numbers> image = {
      F32({1, 4, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2})};
  const frontends::ImportOptions options{.entry = "->y,mean"};
  const auto expected = RunBytes(binary, image, options);
  ASSERT_TRUE(expected.ok()) << expected.status().ToString();
  ExpectNumbers(RunBytes(text, image, options), *expected);
  EXPECT_EQ(frontends::FindFormat(binary)->name, "tensorflow");
  EXPECT_EQ(frontends::FindFormat(text)->name, "tensorflow");
  EXPECT_EQ(frontends::FindFormat("# a comment\n" + text)->name, "tensorflow");
  EXPECT_EQ(
      frontends::FindFormat(tensorflow::SampleSavedModel().SerializeAsString())
          ->name,
      "tensorflow");
}

TEST(GraphDefs, Entries) {
  GraphMaker graph;
  graph.Placeholder("unused", DT_FLOAT, {1});
  graph.Placeholder("b", DT_FLOAT, {-1});
  graph.Placeholder("a", DT_FLOAT, {-1});
  graph.Node("sum", "Add", {"a", "b"});
  graph.Node("y", "Neg", {"sum"});
  const std::string file = graph.Finish();
  // Without a signature, the model's inputs are the placeholders that are used,
  // in the file's order, and its results are the values that no node uses.
  ExpectNumbers(RunBytes(file, {F32({1}, {1}), F32({1}, {2})}),
                {F32({1}, {-3})});
  // The entry "sum->y" cuts the graph: "sum" becomes an input. The file does
  // not give its shape, so the user must.
  frontends::ImportOptions cut{.entry = "sum->y"};
  EXPECT_EQ(ErrorOf(RunBytes(file, {F32({2}, {1, 2})}, cut)),
            "model 'model': input 'sum': the model does not say how many dims "
            "it has: give its shape (--shape), or a value");
  cut.input_shapes["sum"] = {std::nullopt};
  ExpectNumbers(RunBytes(file, {F32({2}, {1, 2})}, cut), {F32({2}, {-1, -2})});
  EXPECT_EQ(ErrorOf(RunBytes(file, {}, {.entry = "->nothing"})),
            "model 'model': --entry: expected a node of the graph, found "
            "'nothing'");
  EXPECT_EQ(
      ErrorOf(RunBytes(file, {}, {.entry = "serving_default"})),
      "model 'model': --entry: expected INPUT,…->OUTPUT,… with nodes of the "
      "graph, found 'serving_default'");
  EXPECT_EQ(ErrorOf(RunBytes(file, {}, {.entry = "a->y"})),
            "model 'model': node 'b (Placeholder)': the result needs this "
            "placeholder, which is no input of the entry");
}

TEST(GraphDefs, EverythingUnsupportedIsListed) {
  GraphMaker graph;
  graph.Placeholder("file", DT_STRING, {});
  graph.Node("wave", "DecodeRaw", {"file"});
  graph.Node("odd", "MyOwnOperator", {"wave"});
  graph.Node("more", "MyOwnOperator", {"odd"});
  graph.Node("y", "Relu", {"more"});
  graph.Node("not_asked_for", "ReadFile", {"file"});
  EXPECT_EQ(
      ErrorOf(RunBytes(graph.Finish(), {}, {.entry = "->y"})),
      "model 'model': unsupported operators: DecodeRaw (node 'wave'; files and "
      "encodings are not read in a model: decode before it, and cut the graph "
      "(--entry='NODE->NODE')), MyOwnOperator (node 'more', 2 nodes)");
}

TEST(GraphDefs, Malformed) {
  GraphMaker twice;
  twice.Placeholder("x", DT_FLOAT, {1});
  twice.Placeholder("x", DT_FLOAT, {1});
  EXPECT_EQ(ErrorOf(RunBytes(twice.Finish(), {})),
            "model 'model': node 'x' is there twice");
  GraphMaker missing;
  missing.Node("y", "Relu", {"x"});
  EXPECT_EQ(ErrorOf(RunBytes(missing.Finish(), {})),
            "model 'model': node 'y (Relu)': input 'x' is no result of a node");
  GraphMaker circle;
  circle.Node("a", "Relu", {"b"});
  circle.Node("b", "Relu", {"a"});
  EXPECT_EQ(ErrorOf(RunBytes(circle.Finish(), {}, {.entry = "->a"})),
            "model 'model': the nodes form a cycle through or before node 'a "
            "(Relu)'");
  GraphMaker short_constant;
  short_constant.Add(
      tensorflow::MakeConst("c", DT_FLOAT, {3}, std::string(8, 'x')));
  short_constant.Node("y", "Relu", {"c"});
  EXPECT_EQ(ErrorOf(RunBytes(short_constant.Finish(), {})),
            "model 'model': node 'c (Const)': constant: expected 3 values, "
            "found 2");
  GraphMaker few;
  few.Placeholder("x", DT_FLOAT, {1});
  few.Node("y", "Add", {"x"});
  EXPECT_EQ(ErrorOf(RunBytes(few.Finish(), {F32({1}, {1})})),
            "model 'model': node 'y (Add)': expected 2 to 2 inputs, found 1");
  EXPECT_EQ(ErrorOf(RunBytes("node { name: \"x\" op: 3 }", {})),
            "model 'model': text of a TensorFlow graph: line 1, column 22: "
            "Expected string, got: 3");
  // The file has very many other fields before the graph, which the recognition
  // of the format must skip one by one.
  std::string fields;
  for (int i = 0; i < 2'000'000; ++i) fields += std::string("\x12\0", 2);
  EXPECT_EQ(frontends::FindFormat(fields), nullptr);
  EXPECT_EQ(ErrorOf(RunBytes("rubbish", {})),
            "model 'model': expected a GraphDef or a SavedModel of at most 2 "
            "GB, found 7 bytes that begin otherwise");
}

TEST(SavedModels, VariablesAndSignatures) {
  for (const bool compress : {false, true}) {
    const std::string folder = Saved("saved", compress);
    const std::string file = frontends::FileOfModel(folder);
    EXPECT_EQ(file, folder + "/saved_model.pb");
    // Results of a signature are sorted by name, so so_far is expected before
    // y.
    ExpectNumbers(RunPath(file, {F32({1, 2}, {1, 2})}),
                  {F32({}, {41}), F32({1, 2}, {10, 200})});
    EXPECT_EQ(ErrorOf(RunPath(file, {}, {.entry = "train"})),
              "model 'saved_model.pb': --entry: expected one of the signatures "
              "'count', 'serving_default', found 'train'");
  }
}

TEST(SavedModels, VariablesThatAreAssignedAreState) {
  const std::string file = Saved("state", false) + "/saved_model.pb";
  // Before the first run the caller passes zeros as the state; a flag among
  // them says that the variable has no value yet.
  const auto first =
      RunPath(file, {F32({}, {0}), Bool({}, {0})}, {.entry = "count"});
  ExpectNumbers(first, {F32({}, {42}), F32({}, {42}), Bool({}, {1})});
  ExpectNumbers(RunPath(file, {(*first)[1], (*first)[2]}, {.entry = "count"}),
                {F32({}, {43}), F32({}, {43}), Bool({}, {1})});
}

TEST(SavedModels, DamagedCheckpoints) {
  const std::string folder = Saved("damaged", false);
  const std::string data = folder + "/variables/variables.data-00000-of-00001";
  std::string bytes = *ReadFile(data);
  bytes[5] = static_cast<char>(bytes[5] ^ 1);
  ASSERT_TRUE(WriteFileAtomically(data, bytes).ok());
  const std::string file = folder + "/saved_model.pb";
  EXPECT_NE(ErrorOf(RunPath(file, {F32({1, 2}, {1, 2})}))
                .find("the checksum is wrong"),
            std::string::npos);
  ASSERT_TRUE(WriteFileAtomically(data, bytes.substr(0, 4)).ok());
  EXPECT_NE(ErrorOf(RunPath(file, {F32({1, 2}, {1, 2})}))
                .find("bytes within the 4 of its file"),
            std::string::npos);
  std::filesystem::remove(data);
  EXPECT_NE(ErrorOf(RunPath(file, {})).find("cannot open file"),
            std::string::npos);
  std::filesystem::remove_all(folder + "/variables");
  EXPECT_NE(
      ErrorOf(RunPath(file, {F32({1, 2}, {1, 2})}))
          .find("variable 'layer/scale': the checkpoint has no value for it"),
      std::string::npos);
}

// Reading a variable many times must not compute the checksum of the whole
// variable each time.
TEST(SavedModels, VariablesThatAreReadVeryOften) {
  constexpr int kDepth = 14;
  constexpr int64_t kElements = 1 << 20;
  GraphMaker graph;
  graph.Node("v", "VarHandleOp", {},
             {tensorflow::Text("shared_name", "v"),
              tensorflow::Type("dtype", DT_FLOAT),
              tensorflow::ShapeOf("shape", {kElements})});
  tensorflow::AttrValue names;
  names.mutable_tensor()->set_dtype(DT_STRING);
  names.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(1);
  names.mutable_tensor()->add_string_val("v");
  graph.Node("names", "Const", {}, {{"value", names}});
  graph.Node("restored", "RestoreV2", {"names", "names", "names"});
  graph.Node("assign", "AssignVariableOp", {"v", "restored"});
  using tensorflow::MakeNode;
  for (int i = 0; i < kDepth; ++i) {
    const std::string next = "f" + std::to_string(i + 1);
    graph.Function("f" + std::to_string(i), {"h"},
                   {MakeNode("a", next, {"h"}), MakeNode("b", next, {"h"}),
                    MakeNode("c", "AddV2", {"a:r:0", "b:r:0"})},
                   {{"r", "c:z:0"}});
  }
  graph.Function("f" + std::to_string(kDepth), {"h"},
                 {MakeNode("read", "ReadVariableOp", {"h"})},
                 {{"r", "read:value:0"}});
  graph.Node("y", "f0", {"v"});
  tensorflow::SavedModel model;
  model.set_saved_model_schema_version(1);
  tensorflow::MetaGraphDef& meta = *model.add_meta_graphs();
  meta.mutable_meta_info_def()->add_tags("serve");
  *meta.mutable_graph_def() = graph.graph();
  tensorflow::TensorInfo& y =
      (*(*meta.mutable_signature_def())["serving_default"]
            .mutable_outputs())["y"];
  y.set_name("y:0");
  y.set_dtype(DT_FLOAT);
  const std::string folder = NewFolder("read_often");
  tensorflow::WriteSavedModel(
      folder, model,
      tensorflow::MakeCheckpoint(
          {{"v",
            {.type = DT_FLOAT,
             .dims = {kElements},
             .bytes = std::string(kElements * sizeof(float), '\0')}}},
          false));
  frontends::ModelFile file(folder + "/saved_model.pb");
  const auto imported = tensorflow::ImportModel(file, {});
  EXPECT_TRUE(imported.ok()) << imported.status().ToString();
}

// A key in a checkpoint's index stores only the bytes in which it differs from
// the previous key. Here each key adds one byte, so the decoded keys take
// quadratic memory, and a limit must refuse them.
TEST(SavedModels, IndexesThatGrow) {
  std::map<std::string, std::string> entries;
  std::string key;
  for (int i = 0; i < 20'000; ++i) entries[key += 'a'] = "";
  const std::string index = tensorflow::MakeSortedTable(entries, false);
  const auto read = tensorflow::ReadSortedTable(tensorflow::AsBytes(index));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().message(),
            "index: expected blocks, keys and values of at most " +
                std::to_string(64 * index.size() + (1 << 20)) +
                " bytes in all, found more");
}

// Each changed byte of the index, and each truncation, must give an error or
// the same values.
TEST(SavedModels, DamagedIndexes) {
  for (const bool compress : {false, true}) {
    const std::string index = tensorflow::SampleCheckpoint(compress).index;
    const auto whole = tensorflow::ReadSortedTable(tensorflow::AsBytes(index));
    ASSERT_TRUE(whole.ok()) << whole.status().ToString();
    EXPECT_EQ(whole->size(), 3u);
    for (size_t i = 0; i < index.size(); ++i) {
      for (const int flip : {1, 8, 128, 255}) {
        std::string damaged = index;
        damaged[i] = static_cast<char>(damaged[i] ^ flip);
        const auto read =
            tensorflow::ReadSortedTable(tensorflow::AsBytes(damaged));
        if (read.ok()) {
          EXPECT_EQ(*read, *whole) << i;
        }
      }
      EXPECT_FALSE(
          tensorflow::ReadSortedTable(tensorflow::AsBytes(index.substr(0, i)))
              .ok());
    }
  }
}

}  // namespace
}  // namespace ember::tests
