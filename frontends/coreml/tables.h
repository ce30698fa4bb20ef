// Helpers for models of tables, whose inputs and outputs are rows of features.
// All computations are in f64.
//
//   EMBER_ASSIGN_OR_RETURN(const Tensor rows, RowsOf(context, model, features));
//   return SetRows(model, rows * 2, features);   // [N, features]
//
// Errors and lifetime as in importer.h.
#ifndef EMBER_FRONTENDS_COREML_TABLES_H_
#define EMBER_FRONTENDS_COREML_TABLES_H_

#include <vector>

#include "frontends/coreml/importer.h"

namespace ember::coreml {

// Returns a constant f64 vector.
ops::Tensor Vector(graph::GraphBuilder& builder,
                   const std::vector<double>& values);
ops::Tensor Matrix(graph::GraphBuilder& builder,
                   const std::vector<double>& values, int64_t rows,
                   int64_t columns);

// True for a number or a text, which is a column [N].
bool IsColumn(const Feature& feature);
// Returns a feature as rows [N, elements]. A column becomes N rows of one
// element, an array one row.
ops::Tensor AsRows(const ops::Tensor& value, bool is_column);

// Returns all inputs of a model, concatenated along the columns.
StatusOr<ops::Tensor> RowsOf(const ModelContext& context,
                             const ProtobufView& model,
                             const Features& features);
// Sets an output of the model to the rows: the output that the description
// names as predicted, else the first one. If that output is an array and there
// is one row, the leading dim is dropped.
Status SetRows(const ProtobufView& model, const ops::Tensor& rows,
               Features& features);

// Fails unless the rows have `count` columns.
Status CheckColumns(const ops::Tensor& rows, int64_t count,
                    std::string_view what);

// Each of these functions imports one kind of model. They are defined in
// dictionaries.cc, mapping.cc, suppression.cc, support_vectors.cc and
// neighbors.cc.
Status ImportCategoricalMapping(ModelContext& context,
                                const ProtobufView& model, Features& features);
Status ImportDictionaryVectorizer(ModelContext& context,
                                  const ProtobufView& model,
                                  Features& features);
Status ImportSuppression(ModelContext& context, const ProtobufView& model,
                         Features& features);
Status ImportSvmRegressor(ModelContext& context, const ProtobufView& model,
                          Features& features);
Status ImportSvmClassifier(ModelContext& context, const ProtobufView& model,
                           Features& features);
Status ImportNeighbors(ModelContext& context, const ProtobufView& model,
                       Features& features);

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_TABLES_H_
