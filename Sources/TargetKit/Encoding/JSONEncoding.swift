// SPDX-License-Identifier: MIT

/// Encodes parameters as a JSON object (RFC 8259) in the body.
///
/// Strings are escaped only where RFC 8259 §7 requires it, so `/` and non-ASCII text are unchanged. `nil` and `NSNull`
/// are `null`. Integers of any width and `Decimal` have all their digits; `Double` and `Float` are the shortest decimal
/// that reads back to the number (`1` for `1.0`). `Data` is a Base64 string, `URL` and `UUID` are strings, and a
/// `RawRepresentable` is its raw value. NaN, infinity and any other type are errors with the key path.
public struct JSONEncoding: ParameterEncoding {
    let sortedKeys: Bool
    let pretty: Bool
    let dates: URLEncodedFormEncoder.DateEncoding

    /// Creates an encoding.
    ///
    /// - Parameters:
    ///   - sortedKeys: Whether names are sorted at every level; default `true`, so that equal parameters give equal
    ///     bytes.
    ///   - pretty: Whether the JSON has line breaks and an indentation of two spaces; default `false`.
    ///   - dates: The format of dates; default: the number of seconds since 1970.
    public init(
        sortedKeys: Bool = true,
        pretty: Bool = false,
        dates: URLEncodedFormEncoder.DateEncoding = .secondsSince1970
    ) {
        self.sortedKeys = sortedKeys
        self.pretty = pretty
        self.dates = dates
    }

    /// Returns the request with the parameters as its body, and the Content-Type `application/json` unless one is set.
    ///
    /// - Throws: An error with the key path of the parameter that can't be encoded, or the error of a closure.
    public func encode(_ parameters: [String: any Sendable], into request: URLRequest) throws -> URLRequest {
        var request = request
        request.setJSONBody(try data(parameters))
        return request
    }

    /// The parameters as a JSON object.
    ///
    /// - Throws: An error with the key path of the parameter that can't be encoded, or the error of a closure.
    func data(_ parameters: [String: any Sendable]) throws -> Data {
        var buffer = ByteBuffer(capacity: parameters.count * 32 + 16)
        try write(root: parameters, to: &buffer)
        return buffer.data
    }
}

extension ParameterEncoding where Self == JSONEncoding {
    /// A JSON object as the body.
    public static var json: JSONEncoding { JSONEncoding() }
}

extension JSONEncoding {
    /// Writes the top-level object.
    func write(root parameters: [String: any Sendable], to json: inout ByteBuffer) throws {
        try writeObject(to: &json, depth: 0) { body in
            try KeyOrder.forEach(in: parameters, sorted: sortedKeys) { try body($0, $1) }
        }
    }

    private func write<T>(_ value: T, to json: inout ByteBuffer, depth: Int) throws {
        switch try ParameterValue.of(value) {
        case .text(let text): JSONText.append(text, to: &json)
        case .digits(let digits): json.append(digits)
        case .signed(let number): NumberText.append(number, to: &json)
        case .unsigned(let number): NumberText.append(number, to: &json)
        case .double(let number): json.append(try NumberText.text(number))
        case .float(let number): json.append(try NumberText.text(number))
        case .decimal(let number): json.append(try NumberText.text(number))
        case .bool(let flag): json.append(literal: flag ? "true" : "false")
        case .date(let date): try write(date, to: &json)
        case .data(let data): JSONText.append(data.base64EncodedString(), to: &json)
        case .missing, .null: json.append(literal: "null")
        case .list(let list): try write(list, to: &json, depth: depth)
        case .pairs(let pairs):
            try writeObject(to: &json, depth: depth) { try pairs.forEachParameter(sorted: sortedKeys, body: $0) }
        }
    }

    /// Writes an object with the pairs that `forEach` passes to its closure.
    private func writeObject(
        to json: inout ByteBuffer,
        depth: Int,
        forEach: ((String, Any) throws -> Void) throws -> Void
    ) throws {
        guard depth < ParameterEncodingError.maximumDepth else { throw ParameterEncodingError(.tooDeep) }
        json.append(UInt8(ascii: "{"))
        var isEmpty = true
        try forEach { key, value in
            startElement(isFirst: isEmpty, to: &json, depth: depth + 1)
            isEmpty = false
            JSONText.append(key, to: &json)
            json.append(literal: pretty ? " : " : ":")
            do {
                try write(value, to: &json, depth: depth + 1)
            } catch let error as ParameterEncodingError {
                throw error.inside(key, isRoot: depth == 0)
            }
        }
        if !isEmpty { breakLine(to: &json, depth: depth) }
        json.append(UInt8(ascii: "}"))
    }

    private func write(_ list: any ParameterList, to json: inout ByteBuffer, depth: Int) throws {
        guard depth < ParameterEncodingError.maximumDepth else { throw ParameterEncodingError(.tooDeep) }
        json.append(UInt8(ascii: "["))
        var index = 0
        try list.forEachParameter { element in
            startElement(isFirst: index == 0, to: &json, depth: depth + 1)
            do {
                try write(element, to: &json, depth: depth + 1)
            } catch let error as ParameterEncodingError {
                throw error.inside("\(index)", isRoot: false)
            }
            index += 1
        }
        if index > 0 { breakLine(to: &json, depth: depth) }
        json.append(UInt8(ascii: "]"))
    }

    private func write(_ date: Date, to json: inout ByteBuffer) throws {
        switch try dates.form(of: date) {
        case .number(let number): json.append(try NumberText.text(number))
        case .text(let text): JSONText.append(text, to: &json)
        }
    }

    private func startElement(isFirst: Bool, to json: inout ByteBuffer, depth: Int) {
        if !isFirst { json.append(UInt8(ascii: ",")) }
        breakLine(to: &json, depth: depth)
    }

    private func breakLine(to json: inout ByteBuffer, depth: Int) {
        guard pretty else { return }
        json.append(UInt8(ascii: "\n"))
        for _ in 0..<depth { json.append(literal: "  ") }
    }
}

extension JSONEncoder {
    /// Encodes a value with sorted keys, so that equal values give equal bytes. Otherwise the order of a dictionary's
    /// keys varies.
    ///
    /// The encoder itself isn't changed, because other code may use it. If it doesn't sort keys, a new encoder with its
    /// settings is used, except for a subclass of `JSONEncoder`.
    func encodeWithSortedKeys(_ value: some Encodable) throws -> Data {
        guard type(of: self) == JSONEncoder.self, !outputFormatting.contains(.sortedKeys) else {
            return try encode(value)
        }
        let sorting = JSONEncoder()
        sorting.outputFormatting = outputFormatting.union(.sortedKeys)
        sorting.dateEncodingStrategy = dateEncodingStrategy
        sorting.dataEncodingStrategy = dataEncodingStrategy
        sorting.nonConformingFloatEncodingStrategy = nonConformingFloatEncodingStrategy
        sorting.keyEncodingStrategy = keyEncodingStrategy
        sorting.userInfo = userInfo
        return try sorting.encode(value)
    }
}
