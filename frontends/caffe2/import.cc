#include "frontends/caffe2/import.h"

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "base/byte_cursor.h"
#include "base/file.h"
#include "base/one_line.h"
#include "frontends/caffe2/model_inputs.h"
#include "frontends/caffe2/net.h"
#include "frontends/caffe2/operator_context.h"
#include "frontends/caffe2/operator_table.h"
#include "frontends/caffe2/value_info.h"
#include "frontends/import_steps.h"
#include "frontends/inputs.h"
#include "frontends/metadata.h"
#include "frontends/model_errors.h"

namespace ember::caffe2 {
namespace {

namespace fs = std::filesystem;

struct Model {
  NetDef predict, init;
  ValueInfo infos;

  std::vector<frontends::ModelInput> Inputs() const {
    return FindInputs(predict, init, infos);
  }
};

// Returns a node's name: its own, or its first result's.
std::string NameOf(const OperatorDef& op) {
  if (op.has_name() && !op.name().empty()) return op.name();
  return op.output_size() > 0 ? op.output(0) : "";
}

// Returns the names of the outputs that the operator's importer has set, as one
// text for messages.
std::string ResultNames(const OperatorDef& op, const OperatorContext& c) {
  std::string names;
  for (int i = 0; i < op.output_size(); ++i) {
    if (c.Output(i))
      names += (names.empty() ? "'" : ", '") + OnOneLine(op.output(i)) + "'";
  }
  return names;
}

class NetImporter {
 public:
  NetImporter(std::shared_ptr<const Model> model,
              const frontends::ImportOptions& options)
      : model_(std::move(model)),
        options_(options),
        builder_("main", options.operation_limit),
        steps_(options.progress) {}

  StatusOr<graph::Graph> Import() {
    EMBER_ASSIGN_OR_RETURN(const std::set<const OperatorDef*> needed, Needed());
    EMBER_RETURN_IF_ERROR(CheckOperators(needed));
    steps_.Expect(needed.size());
    const std::vector<frontends::ModelInput> inputs = model_->Inputs();
    EMBER_ASSIGN_OR_RETURN(const std::vector<graph::Value*> values,
                           frontends::AddInputs(inputs, options_, builder_));
    for (const OperatorDef& op : model_->init.op())
      if (needed.contains(&op)) EMBER_RETURN_IF_ERROR(AddOperator(op));
    // The inputs are set after the init net's operators: from here on, an input
    // replaces a blob of the same name that the init net fills.
    for (size_t i = 0; i < inputs.size(); ++i)
      blobs_[inputs[i].name] = Tensor(&builder_, values[i]);
    for (const OperatorDef& op : model_->predict.op())
      EMBER_RETURN_IF_ERROR(AddOperator(op));
    EMBER_RETURN_IF_ERROR(AddOutputs());
    return builder_.Finish();
  }

 private:
  // Returns all operators of the predict net, and those of the init net that it
  // needs. Other operators of the init net may fill the data, or exist for
  // training.
  StatusOr<std::set<const OperatorDef*>> Needed() const {
    std::set<const OperatorDef*> needed;
    std::set<std::string_view> wanted;
    for (const OperatorDef& op : model_->predict.op()) {
      needed.insert(&op);
      wanted.insert(op.input().begin(), op.input().end());
    }
    wanted.insert(model_->predict.external_output().begin(),
                  model_->predict.external_output().end());
    for (const frontends::ModelInput& input : model_->Inputs())
      wanted.erase(input.name);
    for (int i = model_->init.op_size(); i-- > 0;) {
      const OperatorDef& op = model_->init.op(i);
      bool is_wanted = false;
      for (const std::string& output : op.output())
        is_wanted = is_wanted || wanted.contains(output);
      if (!is_wanted) continue;
      needed.insert(&op);
      wanted.insert(op.input().begin(), op.input().end());
    }
    if (model_->predict.op().empty())
      return DataLossError("predict net: expected operators, found none");
    return needed;
  }

  Status CheckOperators(const std::set<const OperatorDef*>& needed) const {
    frontends::UnsupportedParts missing("operators", "operator");
    const auto check = [&](const NetDef& net) {
      for (const OperatorDef& op : net.op()) {
        if (!needed.contains(&op)) continue;
        const OperatorRow* row = FindRow(op.type());
        if (row != nullptr && row->import != nullptr) continue;
        missing.Add(op.type(), NameOf(op), row != nullptr ? row->reason : "");
      }
    };
    check(model_->init);
    check(model_->predict);
    return missing.ToStatus();
  }

  Status AddOperator(const OperatorDef& op) {
    EMBER_RETURN_IF_ERROR(steps_.Begin(op.type()));
    const OperatorRow* row = FindRow(op.type());
    builder_.SetOrigin(OnOneLine(NameOf(op)) + " (" + OnOneLine(op.type()) +
                       ")");
    const std::string what = "node '" + builder_.origin() + "'";
    if (op.input_size() < row->minimum_inputs ||
        op.input_size() > row->maximum_inputs) {
      return DataLossError(what + ": expected " +
                           std::to_string(row->minimum_inputs) + " to " +
                           std::to_string(row->maximum_inputs) +
                           " inputs, found " + std::to_string(op.input_size()));
    }
    std::vector<Tensor> inputs;
    for (const std::string& name : op.input()) {
      const auto found = blobs_.find(name);
      if (found == blobs_.end()) {
        return DataLossError(what + ": expected a blob '" + OnOneLine(name) +
                             "' before it, found none");
      }
      inputs.push_back(found->second);
    }
    OperatorContext c(builder_, op, model_, std::move(inputs));
    row->import(c);
    EMBER_RETURN_IF_ERROR(builder_.status());
    for (int i = 0; i < op.output_size(); ++i) {
      const Tensor result = c.Output(i);
      if (!result) {
        return UnimplementedError(
            what + ": expected the results " + ResultNames(op, c) +
            " alone, found '" + OnOneLine(op.output(i)) + "' (result " +
            std::to_string(i) + "), which is not computed here");
      }
      if (result.value()->name().empty())
        result.value()->set_name(op.output(i));
      blobs_[op.output(i)] = result;
    }
    return OkStatus();
  }

  // Returns the names of the results of the model, each once.
  std::vector<std::string> OutputNames() const {
    std::vector<std::string> names;
    std::set<std::string_view> seen;
    for (const std::string& name : model_->predict.external_output())
      if (seen.insert(name).second) names.push_back(name);
    if (!names.empty()) return names;
    std::set<std::string_view> taken;
    for (const OperatorDef& op : model_->predict.op())
      taken.insert(op.input().begin(), op.input().end());
    for (const OperatorDef& op : model_->predict.op()) {
      for (const std::string& name : op.output()) {
        if (!taken.contains(name) && seen.insert(name).second)
          names.push_back(name);
      }
    }
    return names;
  }

  Status AddOutputs() {
    const std::vector<std::string> names = OutputNames();
    if (names.empty())
      return DataLossError("predict net: expected results, found none");
    for (const std::string& name : names) {
      const auto found = blobs_.find(name);
      if (found == blobs_.end()) {
        return DataLossError(
            "external_output: expected a blob of the nets, "
            "found '" +
            OnOneLine(name) + "'");
      }
      builder_.Output(name, found->second.value());
    }
    return builder_.status();
  }

  const std::shared_ptr<const Model> model_;
  const frontends::ImportOptions& options_;
  graph::GraphBuilder builder_;
  frontends::ImportSteps steps_;
  // The current value of each blob, by name.
  std::map<std::string, Tensor, std::less<>> blobs_;
};

StatusOr<graph::Graph> ImportRead(const std::shared_ptr<const Model>& model,
                                  const frontends::ImportOptions& options) {
  EMBER_RETURN_IF_ERROR(
      frontends::CheckNoEntry(options, "a net of Caffe2 has one"));
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph,
                         NetImporter(model, options).Import());
  frontends::MetadataCollector metadata("caffe2");
  metadata.Add("name", model->predict.name());
  metadata.Add("init_name", model->init.name());
  graph.set_metadata(std::move(metadata).Take());
  return graph;
}

// value_info: the contents of value_info.json; "" if there is no such file.
StatusOr<std::shared_ptr<const Model>> ReadModel(std::string_view predict_net,
                                                 std::string_view init_net,
                                                 std::string_view value_info) {
  auto model = std::make_shared<Model>();
  EMBER_ASSIGN_OR_RETURN(model->predict, ReadNet(predict_net, "predict net"));
  EMBER_ASSIGN_OR_RETURN(model->init, ReadNet(init_net, "init net"));
  if (!value_info.empty()) {
    EMBER_ASSIGN_OR_RETURN(model->infos, ReadValueInfo(value_info));
  }
  return std::shared_ptr<const Model>(std::move(model));
}

// Replaces the last `from` in a file's name by `to`; "" if there is none.
std::string Renamed(const std::string& file, std::string_view from,
                    std::string_view to) {
  const size_t at = file.rfind(from);
  if (at == std::string::npos) return "";
  std::string renamed = file;
  return renamed.replace(at, from.size(), to);
}

struct Paths {
  std::string predict, init;
};

// Returns the paths of a model's two nets; `path` is one of them.
StatusOr<Paths> PathsOf(const std::string& path) {
  const fs::path whole(path);
  const std::string file = whole.filename().string();
  std::string other = Renamed(file, "predict", "init");
  const bool is_predict = !other.empty();
  if (!is_predict) other = Renamed(file, "init", "predict");
  if (other.empty()) {
    return InvalidArgumentError(
        "expected a name with 'predict' or 'init', as predict_net.pb has "
        "init_net.pb beside it, found '" +
        OnOneLine(file) + "'");
  }
  // The second net of the pair may be text (.pbtxt) although the first is
  // binary, or the reverse, so both extensions are tried.
  std::string also = other.ends_with(".pbtxt")
                         ? other.substr(0, other.size() - 3)
                         : other + "txt";
  for (const std::string& name : {other, also}) {
    const std::string beside = (whole.parent_path() / name).string();
    std::error_code error;
    if (!fs::is_regular_file(beside, error)) continue;
    return is_predict ? Paths{path, beside} : Paths{beside, path};
  }
  return NotFoundError("expected '" + OnOneLine(other) + "' or '" +
                       OnOneLine(also) + "' beside it, found neither");
}

// Reads a file's net and the files that belong to it. Files are unmapped once
// they are parsed.
StatusOr<std::shared_ptr<const Model>> ReadFiles(
    const std::string& path, const graph::ConstantData& contents) {
  EMBER_ASSIGN_OR_RETURN(const Paths paths, PathsOf(path));
  const bool is_predict = paths.predict == path;
  EMBER_ASSIGN_OR_RETURN(
      const MappedFile other,
      MappedFile::Open(is_predict ? paths.init : paths.predict));
  const std::string beside =
      (fs::path(path).parent_path() / "value_info.json").string();
  std::string value_info;
  std::error_code error;
  if (fs::is_regular_file(beside, error)) {
    EMBER_ASSIGN_OR_RETURN(value_info, ReadFile(beside));
  }
  const std::string_view net = AsText(contents.bytes);
  const std::string_view other_net = AsText(other.bytes());
  return is_predict ? ReadModel(net, other_net, value_info)
                    : ReadModel(other_net, net, value_info);
}

StatusOr<std::shared_ptr<const Model>> OpenModel(frontends::ModelFile& file) {
  return file.Parsed<const Model>([&](const graph::ConstantData& contents) {
    return ReadFiles(file.path(), contents);
  });
}

}  // namespace

StatusOr<graph::Graph> ImportModelBytes(std::string_view predict_net,
                                        std::string_view init_net,
                                        const frontends::ImportOptions& options,
                                        std::string_view name,
                                        std::string_view value_info) {
  const auto model = ReadModel(predict_net, init_net, value_info);
  if (!model.ok()) return frontends::OfModel(model.status(), name);
  StatusOr<graph::Graph> graph = ImportRead(*model, options);
  if (!graph.ok()) return frontends::OfModel(graph.status(), name);
  return graph;
}

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options) {
  const auto model = OpenModel(file);
  if (!model.ok()) return frontends::OfModel(model.status(), file.name());
  StatusOr<graph::Graph> graph = ImportRead(*model, options);
  if (!graph.ok()) return frontends::OfModel(graph.status(), file.name());
  return graph;
}

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& /*options*/) {
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const Model> model,
                         OpenModel(file));
  std::vector<frontends::InputInfo> infos;
  for (const frontends::ModelInput& input : model->Inputs())
    infos.push_back({input.name, input.dims.has_value()});
  return infos;
}

}  // namespace ember::caffe2
