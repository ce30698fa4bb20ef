// Declares the flags of a tool, parses its command line and prints its help.
// Flags are spelled with dashes and may be repeated, which absl::flags cannot
// do.
//
//   std::string output;
//   std::vector<std::string> shapes, models;
//   Flags flags("vm-compile", "MODEL.onnx -o MODEL.vmfb [flags]",
//               "Compiles a model to a module.");
//   flags.Positional("MODEL.onnx", 1, 1, &models);
//   flags.Add("o", &output, "FILE", "Where to write the module.");
//   flags.Add("shape", &shapes, "NAME=1x3x224x224",
//             "Pins an input's dims. May be repeated.");
//   flags.Example("vm-compile resnet50.onnx -o resnet50.vmfb");
//   return RunTool(argc, argv, flags, [&] { return Compile(...); });
//
// --name=value and --name value are the same. A flag of one letter may have one
// dash. A bool flag has no value (--profile), or =true or =false. "--" ends the
// flags. Every tool has --help (-h) and --version. An error is one line that
// names the flag, what was expected and what was found. Not thread-safe.
#ifndef EMBER_TOOLS_LIB_CLI_FLAGS_H_
#define EMBER_TOOLS_LIB_CLI_FLAGS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::tools {

class Flags {
 public:
  // Makes the flags of a tool. `usage` is the text that the help shows after
  // the tool's name.
  Flags(std::string tool, std::string usage, std::string summary);

  // Declares the arguments that are not flags: there must be at least `minimum`
  // and at most `maximum` of them.
  void Positional(std::string name, size_t minimum, size_t maximum,
                  std::vector<std::string>* values);
  // Declares a flag. Its default, which the help shows, is the value that the
  // variable has when Add is called. Variables must outlive the parsing. The
  // documentation may have several lines.
  void Add(std::string name, bool* value, std::string doc);
  void Add(std::string name, int64_t* value, std::string placeholder,
           std::string doc);
  void Add(std::string name, double* value, std::string placeholder,
           std::string doc);
  void Add(std::string name, std::string* value, std::string placeholder,
           std::string doc);
  // Declares a flag whose value may be left out: --name without a value means
  // --name=`alone`. Without the flag the variable stays unchanged.
  void AddOptional(std::string name, std::string* value,
                   std::string placeholder, std::string alone, std::string doc);
  // Declares a flag that may be repeated. Each use adds a value to the list.
  void Add(std::string name, std::vector<std::string>* values,
           std::string placeholder, std::string doc);
  // Declare standalone flags, such as --list-devices: the tool does something
  // other than its usual work and then needs no positional arguments.
  void AddStandalone(std::string name, bool* value, std::string doc);
  void AddStandalone(std::string name, std::string* value,
                     std::string placeholder, std::string doc);
  // Declares a flag that accepts only the listed values.
  void AddChoice(std::string name, std::string* value,
                 const std::vector<std::string>& choices, std::string doc);
  // Declares a flag that accepts only the listed values and whose value may be
  // left out: --name alone means the first choice. Without the flag the
  // variable stays unchanged.
  void AddOptionalChoice(std::string name, std::string* value,
                         const std::vector<std::string>& choices,
                         std::string doc);
  // Begins a group: the help lists the flags that are declared from here on
  // under this title. If a title is used again, its group continues. An empty
  // title ends the group.
  void Group(std::string title);
  void Example(std::string command);

  Status Parse(const std::vector<std::string>& arguments);

  bool help_requested() const { return help_; }
  bool version_requested() const { return version_; }
  std::string Help() const;
  const std::string& tool() const { return tool_; }

 private:
  struct Flag {
    std::string name, placeholder, doc, default_text, group;
    // The value of the flag if the user gives the flag without a value. If this
    // is empty, the flag needs a value.
    std::string alone;
    // true: the value may be left out, which --help shows as [=placeholder]
    bool is_optional = false;
    std::function<Status(const std::string&)> set;

    std::string Spelling() const {
      return (name.size() == 1 ? "-" : "--") + name;
    }
  };
  Flag& AddFlag(std::string name, std::string placeholder, std::string doc);
  static std::string FlagHelp(const Flag& flag);
  const Flag* Find(std::string_view name) const;
  Status UnknownFlag(const std::string& argument) const;
  Status ParseFlag(const std::vector<std::string>& arguments, size_t& index);

  std::string tool_, usage_, summary_;
  std::string positional_name_;
  size_t positional_minimum_ = 0, positional_maximum_ = 0;
  std::vector<std::string>* positional_ = nullptr;
  std::vector<Flag> flags_;
  std::string group_;                // group to which the flags that are
                                     // declared next belong
  std::vector<std::string> groups_;  // titles of groups, in the order in which
                                     // the help shows them
  std::vector<std::string> examples_;
  // The variables of standalone flags that are bools, and of those that are
  // texts.
  std::vector<const bool*> standalone_;
  std::vector<const std::string*> standalone_texts_;
  bool help_ = false, version_ = false;
};

// A tool's main: parses, prints help or runs `body`, and prints an error as
// "tool: message". Returns 0; 1 if the work failed; 2 if the command line is
// wrong (tools/lib/cli/command_line_error.h). If writing to stdout fails, the
// work has failed. A mapped file that another program truncates is reported
// (tools/lib/cli/cut_files.h), and temporary files are deleted when a signal
// ends the tool (tools/lib/cli/end_by_signal.h). If operator new fails on this
// thread, the tool prints "tool: out of memory" and ends with status 1.
int RunTool(int argc, char** argv, Flags& flags,
            const std::function<Status()>& body);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_FLAGS_H_
