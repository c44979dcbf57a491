// SPDX-License-Identifier: MIT

/// Encodes parameters as `name=value&name=value`, in the query or in a form body.
///
/// Names are sorted at every level by their UTF-8 bytes, so equal parameters give equal bytes. In names and values, all
/// characters except RFC 3986's unreserved characters, `/` and `?` are escaped.
///
/// | value | written as |
/// |---|---|
/// | `String`, `Substring`, `Character` | itself |
/// | integers of any width, `Decimal` | all digits |
/// | `Double`, `Float` | as short as reads back: `1.0` as `1`, `1.1`, `1e+20`; NaN and infinity are errors |
/// | `Bool` | `1` or `0`, see `bools` |
/// | `Date` | seconds since 1970, see `dates` |
/// | `Data` | Base64 |
/// | `URL`, `UUID` | the absolute string; upper-case digits |
/// | `RawRepresentable` | its raw value |
/// | `NSNumber` | what it was boxed from |
/// | array | `key[]=a&key[]=b`, see `arrays`; an empty one is omitted |
/// | dictionary, `KeyValuePairs` | `key[name]=a`; an empty one is omitted |
/// | `nil` | omitted |
/// | `NSNull`, ``JSONValue/null`` | `key=` |
///
/// Any other type causes an error with the key path.
public struct URLEncoding: ParameterEncoding {
    /// The destination of the parameters.
    public enum Destination: Sendable {
        /// In the query of GET, HEAD and DELETE, otherwise in the body. The default.
        case methodDependent
        /// In the query.
        case query
        /// In the body, as `application/x-www-form-urlencoded`.
        case body
    }

    // In this order, the properties take the 24 bytes that an existential stores without an allocation.
    let destination: Destination
    let arrays: URLEncodedFormEncoder.ArrayEncoding
    let bools: URLEncodedFormEncoder.BoolEncoding
    let encodesSpacesAsPlus: Bool
    let dates: URLEncodedFormEncoder.DateEncoding

    /// Creates an encoding.
    ///
    /// - Parameters:
    ///   - destination: The destination of the parameters; default: depends on the request's method.
    ///   - arrays: The format of the names of array elements; default: `key[]`.
    ///   - bools: The format of a `Bool`; default: `1` and `0`.
    ///   - dates: The format of a `Date`; default: seconds since 1970.
    ///   - encodesSpacesAsPlus: Whether a space is written as `+`; default `false`, which writes `%20`.
    public init(
        destination: Destination = .methodDependent,
        arrays: URLEncodedFormEncoder.ArrayEncoding = .brackets,
        bools: URLEncodedFormEncoder.BoolEncoding = .numeric,
        dates: URLEncodedFormEncoder.DateEncoding = .secondsSince1970,
        encodesSpacesAsPlus: Bool = false
    ) {
        self.destination = destination
        self.arrays = arrays
        self.bools = bools
        self.dates = dates
        self.encodesSpacesAsPlus = encodesSpacesAsPlus
    }

    /// Returns the request with the parameters in its query or body.
    ///
    /// Parameters are appended to an existing query without changing it. A body sets the Content-Type
    /// `application/x-www-form-urlencoded; charset=utf-8`, unless one is set.
    ///
    /// - Throws: An error with the key path of the parameter that can't be encoded, or the error of a closure.
    public func encode(_ parameters: [String: any Sendable], into request: URLRequest) throws -> URLRequest {
        var request = request
        guard encodesIntoQuery(method: request.httpMethod ?? "GET") else {
            request.setBody(Data(try queryString(parameters).utf8), contentType: Self.contentType)
            return request
        }
        guard let url = request.url else { throw ParameterEncodingError(.invalidURL) }
        guard let longer = url.appending(escapedQuery: try queryString(parameters)) else {
            throw ParameterEncodingError(.invalidURL)
        }
        request.url = longer
        return request
    }

    /// Returns the parameters as an escaped query without a leading `?`, sorted by name at every level.
    ///
    /// - Throws: An error with the key path of the parameter that can't be encoded, or the error of a closure.
    public func queryString(_ parameters: [String: any Sendable]) throws -> String {
        writer.text(of: try reader.object(parameters))
    }

    /// The parameters as an escaped query in the caller's order, repeated names included.
    func queryString(ordered parameters: [(String, any Sendable)]) throws -> String {
        writer.text(of: try reader.object(ordered: parameters))
    }

    private var reader: ParameterReader { ParameterReader(dates: dates, omitsEmpty: true) }

    private var writer: FormWriter { FormWriter(arrays: arrays, bools: bools, spaceAsPlus: encodesSpacesAsPlus) }

    func encodesIntoQuery(method: String) -> Bool {
        switch destination {
        case .methodDependent: method == "GET" || method == "HEAD" || method == "DELETE"
        case .query: true
        case .body: false
        }
    }
}

extension URLEncoding {
    /// The media type of a form body, in UTF-8 as the WHATWG URL standard writes it.
    static let contentType = "application/x-www-form-urlencoded; charset=utf-8"
}

extension ParameterEncoding where Self == URLEncoding {
    /// Encodes in the query for GET, HEAD and DELETE, otherwise in a form body.
    public static var url: URLEncoding { URLEncoding() }
    /// Encodes in the query for every method.
    public static var query: URLEncoding { URLEncoding(destination: .query) }
    /// Encodes in a form body for every method.
    public static var form: URLEncoding { URLEncoding(destination: .body) }
}

/// Writes values as escaped `name=value` pairs. An array without elements and an object without members have no pair.
struct FormWriter {
    let arrays: URLEncodedFormEncoder.ArrayEncoding
    let bools: URLEncodedFormEncoder.BoolEncoding
    let spaceAsPlus: Bool
    var form: [UInt8] = []

    /// Returns the members as pairs.
    consuming func text(of object: JSONObject) -> String {
        form.reserveCapacity(object.count * 32)
        for (key, value) in object.members { write(value, name: escaped(key)) }
        return String(decoding: form, as: UTF8.self)
    }

    private mutating func write(_ value: JSONValue, name: String) {
        switch value {
        case .null: write("", name: name)
        case .bool(let flag):
            switch bools {
            case .numeric: write(flag ? "1" : "0", name: name)
            case .literal: write(flag ? "true" : "false", name: name)
            }
        case .number(let number): write(number.description, name: name)
        case .string(let text): write(text, name: name)
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                switch arrays {
                case .plain: write(element, name: name)
                case .brackets: write(element, name: name + "%5B%5D")
                case .indexed: write(element, name: name + "%5B\(index)%5D")
                }
            }
        case .object(let object):
            for (key, value) in object.members { write(value, name: name + "%5B" + escaped(key) + "%5D") }
        }
    }

    private mutating func write(_ text: String, name: String) {
        if !form.isEmpty { form.append(UInt8(ascii: "&")) }
        form += name.utf8
        form.append(UInt8(ascii: "="))
        PercentEncoding.append(text, to: &form, spaceAsPlus: spaceAsPlus)
    }

    private func escaped(_ key: String) -> String {
        PercentEncoding.encode(key, spaceAsPlus: spaceAsPlus)
    }
}
