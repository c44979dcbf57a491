// SPDX-License-Identifier: MIT

/// The statements for the header fields of an operation: parameters, cookies, and `Accept`.
struct HeaderLayout {
    let operation: Operation
    let types: TypeBuilder

    private var fields: [Parameter] { operation.parameters.filter { $0.location == .header } }
    private var cookies: [Parameter] { operation.parameters.filter { $0.location == .cookie } }

    /// The media type to accept, if it's not the usual one.
    private var accept: String? {
        let types = operation.responses.successes.compactMap(\.contentType)
        guard let first = types.first, !types.contains("application/json"), !first.contains("*") else { return nil }
        return first
    }

    /// The media type of a JSON body, if it's not the one that the task sets.
    private var contentType: String? {
        guard let body = operation.body, case .json = body.kind, !body.contentType.contains("*"),
            MediaType.bare(body.contentType) != "application/json"
        else { return nil }
        return body.contentType
    }

    /// The body whose media type is a field only if there is a body.
    private var optionalBody: Body? {
        contentType == nil || operation.body?.isRequired == true ? nil : operation.body
    }

    var isEmpty: Bool { fields.isEmpty && cookies.isEmpty && accept == nil && contentType == nil }

    var usedLabels: Set<String> {
        Set((fields + cookies).map(\.label)).union(optionalBody.map { [$0.label] } ?? [])
    }

    func render(to writer: inout SourceWriter) {
        var constants: [Layout] = []
        if let accept { constants.append(.text("\"Accept\": \(Literal.string(accept))")) }
        if let contentType, optionalBody == nil {
            constants.append(.text("\"Content-Type\": \(Literal.string(contentType))"))
        }
        for field in fields where field.isRequired {
            constants.append(.text("\(Literal.string(field.wireName)): \(text(field))"))
        }
        let optional = fields.filter { !$0.isRequired }
        if optional.isEmpty, cookies.isEmpty, optionalBody == nil {
            return writer.expression("return ", .list(constants))
        }
        writer.expression("var headers: HTTPHeaders = ", .list(constants))
        for field in optional {
            writer.line("headers[\(Literal.string(field.wireName))] = \(text(field))")
        }
        if let optionalBody, let contentType {
            let name = SwiftName.escaped(optionalBody.label)
            writer.line("if \(name) != nil { headers[.contentType] = \(Literal.string(contentType)) }")
        }
        if !cookies.isEmpty { cookieField(to: &writer) }
        writer.line("return headers")
    }

    private func cookieField(to writer: inout SourceWriter) {
        let pairs = cookies.map { cookie -> Layout in
            let name = Literal.escaped(cookie.wireName)
            let label = SwiftName.escaped(cookie.label)
            if cookie.isRequired { return .text("\"\(name)=\\(\(cookieText(cookie, label)))\"") }
            return .text("\(label).map { \"\(name)=\\(\(cookieText(cookie, "$0")))\" }")
        }
        writer.expression("let cookies: [String?] = ", .list(pairs))
        writer.line("let cookie = cookies.compactMap { $0 }.joined(separator: \"; \")")
        writer.line("if !cookie.isEmpty { headers[.cookie] = cookie }")
    }

    /// The value of a cookie with escapes, as OpenAPI's style `form` has them. The commas of a list aren't escaped.
    private func cookieText(_ cookie: Parameter, _ value: String) -> String {
        if cookie.isJSON { return "JSONText(\(value)).text.cookieText" }
        if case .array(let element) = cookie.type,
            let inner = ParameterText.expression("$0", type: element, types: types)
        {
            return "\(value).map { \(inner).cookieText }.joined(separator: \",\")"
        }
        return (ParameterText.expression(value, type: cookie.type, types: types) ?? value) + ".cookieText"
    }

    private func text(_ parameter: Parameter) -> String {
        let name = SwiftName.escaped(parameter.label)
        if parameter.isJSON {
            return parameter.isRequired ? "JSONText(\(name)).text" : "\(name).map { JSONText($0).text }"
        }
        if ParameterText.isObject(parameter.type, types: types) {
            let call = ".text(pair: \"\(parameter.explodes ? "=" : ",")\", separator: \",\")"
            return parameter.isRequired ? "ObjectText(\(name))\(call)" : "\(name).map { ObjectText($0)\(call) }"
        }
        if parameter.isRequired {
            return ParameterText.expression(name, type: parameter.type, types: types) ?? name
        }
        guard let text = ParameterText.expression("$0", type: parameter.type, types: types), text != "$0" else {
            return name
        }
        return "\(name).map { \(text) }"
    }
}
