// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// The operations of a tag.
struct API {
    let name: String
    let tag: String?
    let documentation: String?
    var operations: [Operation]
}

/// An operation: a case of an enum, or a struct.
struct Operation {
    let id: String
    let place: Place
    let method: String
    let path: String
    /// The name of the case.
    let name: String
    /// The name of the struct in the typed style, and the start of the names of the operation's own types.
    let typeName: String
    let documentation: String
    let isDeprecated: Bool
    var parameters: [Parameter]
    var body: Body?
    var responses: Responses
    let credentials: Security.Credentials
    /// The operation's own server; `nil`: the document's.
    let server: String?
}

/// A parameter in the path, the query, a header field or a cookie.
struct Parameter {
    enum Location: String { case path, query, header, cookie }

    let wireName: String
    let label: String
    let type: SwiftType
    let isRequired: Bool
    let location: Location
    let style: String
    let explodes: Bool
    /// Whether the value is written as JSON text.
    let isJSON: Bool
    let place: Place
    /// The schema, for a sample.
    let schema: Place?
    let documentation: String?
}

/// The body of a request.
struct Body {
    enum Kind {
        case json(SwiftType, schema: Place?)
        case form(SwiftType, schema: Place?)
        /// The name of the struct with the fields.
        case multipart(FormModel)
        case text
        /// Bytes as they are, or as Base64 text.
        case data(isBase64: Bool)
    }

    let kind: Kind
    let contentType: String
    let isRequired: Bool
    let label: String
    let place: Place
    let documentation: String?

    /// The type of the value that the caller gives.
    var type: SwiftType {
        switch kind {
        case .json(let type, _), .form(let type, _): type.unwrapped
        case .multipart(let form): .named(form.name)
        case .text: .string
        case .data: .data
        }
    }
}

/// A struct with the fields of a multipart form.
struct FormModel {
    struct Field {
        enum Content { case file, text, json }

        let wireName: String
        let name: String
        let type: SwiftType
        let content: Content
        /// Whether each element of an array is a part of its own.
        let isList: Bool
        let isOptional: Bool
        let contentType: String?
        let documentation: String?
        let place: Place

        var source: String {
            let element = content == .file ? "FileUpload" : type.source
            let base = isList ? "[\(element)]" : element
            return isOptional ? base + "?" : base
        }
    }

    let name: String
    let documentation: String?
    let fields: [Field]

    /// Whether fields have types of other modules than Swift's.
    var hasImportedTypes: Bool {
        fields.contains { field in
            if field.content == .file { return true }
            return field.type.parts.contains { [.decimal, .date, .uuid, .url, .data, .json].contains($0) }
        }
    }
}

/// The documented responses of an operation.
struct Responses {
    enum Content {
        case none
        case json(SwiftType, schema: Place?)
        case text
        case data
    }

    struct Response {
        /// `200`, `4XX` or `default`.
        let status: String
        let content: Content
        let contentType: String?
        let place: Place
        let documentation: String?

        /// A status code that the pattern means.
        var code: Int {
            if let code = Int(status) { return code }
            if let digit = status.first.flatMap({ Int(String($0)) }) { return digit * 100 }
            return 200
        }
    }

    var successes: [Response] = []
    var errors: [Response] = []
    /// The enum for several successes with different values.
    var resultName: String?

    /// The type of the value that a success has; `nil`: none, or several.
    var output: SwiftType? {
        var types: [SwiftType] = []
        for success in successes {
            guard case .json(let type, _) = success.content else {
                if case .none = success.content, successes.count > 1 { continue }
                return nil
            }
            if !types.contains(type) { types.append(type) }
        }
        return types.count == 1 ? types[0] : nil
    }
}

/// What an operation says about credentials.
enum Authorization: Hashable {
    /// Nothing: as the provider's plugins decide.
    case automatic
    case none
    case bearer
    case basic
    case custom(String)

    var source: String? {
        switch self {
        case .automatic: nil
        case .none: ".none"
        case .bearer: ".bearer"
        case .basic: ".basic"
        case .custom(let name): ".custom(\(Literal.string(name)))"
        }
    }
}
