// SPDX-License-Identifier: MIT
import TargetKitJSON
import TargetKitTesting

/// An operation of an OpenAPI document.
struct OpenAPIOperation: Sendable {
    let method: String
    let template: PathTemplate
    let id: String?
    let node: OpenAPINode
    /// The paths of the servers' URLs, as segments.
    let basePaths: [[String]]

    /// The method and the path, for example `GET /pets/{id}`.
    var name: String { "\(method) \(template.text)" }

    private static let methods: Set<String> = [
        "get", "put", "post", "delete", "options", "head", "patch", "trace",
    ]

    /// The operations of a document, in order. References in paths are followed.
    static func all(in document: OpenAPIDocument) throws -> [OpenAPIOperation] {
        guard let paths = document.node(at: ["paths"]) else { return [] }
        let servers = document.node(at: ["servers"])
        var operations: [OpenAPIOperation] = []
        for (path, node) in paths.members where path.hasPrefix("/") {
            let item = try document.resolved(node)
            let template = PathTemplate(path)
            for (method, node) in item.members where methods.contains(method) {
                operations.append(
                    OpenAPIOperation(
                        method: method.uppercased(),
                        template: template,
                        id: node["operationId"]?.value.string,
                        node: node,
                        basePaths: basePaths(node["servers"] ?? item["servers"] ?? servers)
                    )
                )
            }
        }
        return operations
    }

    private static func basePaths(_ servers: OpenAPINode?) -> [[String]] {
        (servers?.elements ?? []).compactMap { server in
            guard var url = server["url"]?.value.string else { return nil }
            for (name, variable) in server["variables"]?.members ?? [] {
                url = url.replacingOccurrences(of: "{\(name)}", with: variable["default"]?.value.string ?? "")
            }
            let path = url.firstRange(of: "://").map { url[$0.upperBound...].drop { $0 != "/" } } ?? url[...]
            return RequestParts.segments(ofPath: String(path)).filter { !$0.isEmpty }
        }
    }
}

/// The operations of a document, by name and by request.
struct OpenAPIOperations: Sendable {
    private let all: [OpenAPIOperation]
    private let byName: [String: Int]

    init(_ document: OpenAPIDocument) throws {
        all = try OpenAPIOperation.all(in: document)
        let names = all.enumerated().flatMap { index, operation in
            [(operation.name, index)] + (operation.id.map { [($0, index)] } ?? [])
        }
        byName = Dictionary(names) { first, _ in first }
    }

    /// The operation with an identifier, or with a method and a path such as `GET /pets/{id}`.
    func operation(named name: String) throws -> OpenAPIOperation {
        let end = name.firstIndex(of: " ") ?? name.startIndex
        guard let index = byName[name] ?? byName[name[..<end].uppercased() + name[end...]] else {
            throw missing(name)
        }
        return all[index]
    }

    /// The operation of a request. If several match its method and path, operations below a server's URL are preferred,
    /// then those with fewer segments before the path, and then those with fewer expressions.
    func operation(of method: String, url: URL) throws -> OpenAPIOperation {
        let path = RequestParts.segments(ofPath: url.path(percentEncoded: true))
        let found = all.filter { $0.method == method }
            .compactMap { operation in operation.template.base(of: path).map { (operation, Array($0)) } }
        let best = found.min { one, other in
            let ranks = [one, other].map { operation, base in
                [operation.basePaths.contains(base) ? 0 : 1, base.count, -operation.template.literalCount]
            }
            return ranks[0].lexicographicallyPrecedes(ranks[1])
        }
        guard let best else { throw missing("\(method) /" + path.joined(separator: "/")) }
        return best.0
    }

    private func missing(_ name: String) -> ExpectationFailure {
        let distances = all.map { EditDistance.dissimilarity($0.name, name) }
        let closest = zip(all, distances).min { $0.1 < $1.1 }?.0
        let hint = closest.map { "; the closest is \($0.name.excerpt(200))" } ?? "; it has no operations"
        return ExpectationFailure("the document has no operation \(name.excerpt(200).inOneLine)" + hint)
    }
}
