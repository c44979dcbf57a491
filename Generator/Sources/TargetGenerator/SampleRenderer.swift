// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// Writes the sample data of operations.
struct SampleRenderer {
    /// The sample of an operation: the first success.
    struct Sample {
        enum Content: Hashable {
            case none
            case json(Node)
            case text(String)
        }

        let status: Int
        let contentType: String?
        let content: Content
        /// The type of the JSON.
        let type: SwiftType?
    }

    let access: Access
    let types: TypeBuilder

    func sample(of operation: Operation) -> Sample {
        guard let success = operation.responses.successes.first else {
            return Sample(status: 200, contentType: nil, content: .none, type: nil)
        }
        let content = success.contentType.flatMap { success.place["content"]?[$0] }
        switch success.content {
        case .none: return Sample(status: success.code, contentType: nil, content: .none, type: nil)
        case .json(let type, let schema):
            var value = maker(3).value(of: type, at: content, schema: schema)
            if JSONText.compact(value).utf8.count > 20_000 {
                value = maker(1).value(of: type, at: nil, schema: schema)
            }
            let name = success.contentType.map { $0.contains("*") ? "application/json" : $0 }
            return Sample(status: success.code, contentType: name, content: .json(value), type: type)
        case .text:
            let example = content.flatMap { $0["example"]?.node.string }
            return Sample(
                status: success.code,
                contentType: success.contentType,
                content: .text(example ?? "text"),
                type: nil
            )
        case .data:
            return Sample(status: success.code, contentType: success.contentType, content: .text("data"), type: nil)
        }
    }

    private func maker(_ levels: Int) -> SampleMaker {
        SampleMaker(types: types, direction: .response, optionalLevels: levels)
    }

    // MARK: - Routed

    func render(_ api: API, to writer: inout SourceWriter) {
        let samples = api.operations.map { ($0, sample(of: $0)) }
        writer.block("extension \(api.name)") { writer in
            if samples.contains(where: { $0.1.content != .none }) {
                data(of: samples, to: &writer)
                writer.line()
            }
            writer.documentation("The first success that the document lists, with the sample data.")
            writer.block("\(access.prefix)var sampleResponse: SampleResponse") { writer in
                writer.line("switch self {")
                for group in samples.grouped(by: { response($0.1) }) {
                    APIRenderer.cases(group.elements.map { $0.0 }, to: &writer)
                    writer.indented { $0.expression("", .call(".response", group.key.map(Layout.text))) }
                }
                writer.line("}")
            }
        }
    }

    private func data(of samples: [(Operation, Sample)], to writer: inout SourceWriter) {
        writer.documentation("The document's examples, or values made from its schemas.")
        writer.block("\(access.prefix)var sampleData: Data") { writer in
            writer.line("switch self {")
            for (operation, sample) in samples where sample.content != .none {
                writer.line("case .\(operation.name):")
                writer.indented { data(sample, to: &$0) }
            }
            if samples.contains(where: { $0.1.content == .none }) { writer.line("default: Data()") }
            writer.line("}")
        }
    }

    // MARK: - Typed

    func renderTyped(_ operation: Operation, to writer: inout SourceWriter) {
        let sample = sample(of: operation)
        if operation.isDeprecated { writer.line("@available(*, deprecated)") }
        writer.block("extension \(operation.typeName)") { writer in
            writer.documentation("The document's example, or a value made from its schema.")
            writer.block("\(access.prefix)var sampleData: Data") { data(sample, to: &$0) }
            writer.line()
            writer.documentation("The first success that the document lists, with the sample data.")
            writer.block("\(access.prefix)var sampleResponse: SampleResponse") { writer in
                writer.expression("", .call(".response", response(sample).map(Layout.text)))
            }
        }
    }

    private func data(_ sample: Sample, to writer: inout SourceWriter) {
        switch sample.content {
        case .none: writer.line("Data()")
        case .json(let value): writer.json("Data", value, ".utf8")
        case .text(let text): writer.expression("", .call("Data", [.text(Literal.string(text) + ".utf8")]))
        }
    }

    private func response(_ sample: Sample) -> [String] {
        var arguments = ["status: \(sample.status)"]
        if let type = sample.contentType { arguments.append("headers: [\"Content-Type\": \(Literal.string(type))]") }
        return arguments + ["data: sampleData"]
    }
}
