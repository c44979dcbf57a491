// SPDX-License-Identifier: MIT

/// Writes the enum for an operation whose successes have different values.
struct ResultRenderer {
    let access: Access

    func render(_ operation: Operation, to writer: inout SourceWriter) {
        guard let name = operation.responses.resultName else { return }
        var names = NameTable(reserved: ["other"])
        let successes = operation.responses.successes.map { success in
            (success, names.claim(Self.names[success.status] ?? "status" + SwiftName.type(success.status)))
        }
        writer.documentation("The responses of `\(operation.name)` that are a success.")
        writer.block("\(access.prefix)enum \(name): Sendable") { writer in
            for (success, name) in successes {
                writer.documentation(success.documentation?.singleLine ?? "Status \(success.status).")
                writer.line("case \(name)" + (Self.type(success).map { "(\($0))" } ?? ""))
            }
            writer.documentation("A status that the document doesn't list.")
            writer.line("case other(Response)")
            writer.line()
            writer.documentation("Decodes the body by the status.")
            writer.block("\(access.prefix)nonisolated init(_ response: Response) throws(TargetKitError)") { writer in
                writer.line("switch response.statusCode {")
                for (success, name) in successes {
                    let pattern = Int(success.status).map { "\($0)" } ?? "200...299"
                    writer.line("case \(pattern): self = .\(name)\(Self.value(success))")
                }
                writer.line("default: self = .other(response)")
                writer.line("}")
            }
        }
    }

    private static func type(_ response: Responses.Response) -> String? {
        switch response.content {
        case .none: nil
        case .json(let type, _): type.source
        case .text: "String"
        case .data: "Data"
        }
    }

    private static func value(_ response: Responses.Response) -> String {
        switch response.content {
        case .none: ""
        case .json(let type, _): "(try response.decode(\(type.metatype)))"
        case .text: "(try response.string())"
        case .data: "(response.data)"
        }
    }

    private static let names = [
        "200": "ok", "201": "created", "202": "accepted", "203": "nonAuthoritative", "204": "noContent",
        "205": "resetContent", "206": "partialContent", "207": "multiStatus", "2XX": "success", "2xx": "success",
        "default": "success",
    ]
}

extension SwiftType {
    /// `Pet.self`, or `Pet?.self` in a form that parses everywhere.
    var metatype: String {
        if case .optional(let wrapped) = self { return "Optional<\(wrapped.source)>.self" }
        return source + ".self"
    }
}
