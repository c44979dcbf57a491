// SPDX-License-Identifier: MIT

/// The names that a scope has given away. A name that is taken gets the first free number, so that the same requests in
/// the same order always get the same names.
struct NameTable {
    private var taken: Set<String>

    /// Creates a table in which some names are taken.
    init(reserved: some Sequence<String> = []) {
        taken = Set(reserved.lazy.map { $0.lowercased() })
    }

    /// Claims a name. Names that differ only in case are the same, because the file system may say so.
    mutating func claim(_ name: String, alternative: String? = nil) -> String {
        if taken.insert(name.lowercased()).inserted { return name }
        if let alternative, taken.insert(alternative.lowercased()).inserted { return alternative }
        var number = 2
        while true {
            let candidate = (alternative ?? name) + "\(number)"
            if taken.insert(candidate.lowercased()).inserted { return candidate }
            number += 1
        }
    }

    /// Type names that a model must not have: they would hide, or be ambiguous with, those of Swift, Foundation and
    /// TargetKit.
    static let reservedTypes: Set = [
        "Any", "AnyHashable", "AnyObject", "Array", "Bool", "Character", "Codable", "CodingKey", "CodingKeys",
        "Collection", "Comparable", "Data", "Date", "Decimal", "Decodable", "Decoder", "DecodingError", "Dictionary",
        "Double", "Duration", "Element", "Encodable", "Encoder", "EncodingError", "Equatable", "Error", "Float",
        "Hashable", "Hasher", "Identifiable", "Int", "Int8", "Int16", "Int32", "Int64", "Iterator", "Key", "KeyPath",
        "Locale", "Never", "Notification", "Optional", "Protocol", "Range", "RawRepresentable", "Result", "Self",
        "Sendable", "Sequence", "Set", "String", "Substring", "Task", "Type", "UInt", "UInt8", "UInt16", "UInt32",
        "UInt64", "URL", "URLComponents", "URLRequest", "URLResponse", "UUID", "Void", "Actor", "Clock",
        "Bundle", "Calendar", "DateComponents", "DateFormatter", "DateInterval", "Dimension", "FileHandle",
        "FileManager", "Formatter", "Host", "HTTPCookie", "HTTPURLResponse", "IndexPath", "IndexSet",
        "JSONDecoder", "JSONEncoder", "Measurement", "Operation", "OperationQueue", "Pipe", "Port", "Predicate",
        "Process", "ProcessInfo", "Progress", "Scanner", "Stream", "Thread", "TimeZone", "Timer", "Unit",
        "UserDefaults", "UserInfo", "Selector",
        "AuthorizationScheme", "CallContext", "CallExchanges", "CallOptions", "CallTimeout", "DownloadDestination",
        "Endpoint", "EnvironmentStore", "EnvironmentTarget", "ErrorMappingTarget", "Exchange", "HTTPHeaderName",
        "HTTPHeaders", "HTTPMethod", "HTTPTask", "JSONNumber", "JSONObject", "JSONValue", "MultiTarget",
        "MultipartForm", "MultipartError", "ParameterEncoding", "Plugin", "PluginPlace", "Provider", "RequestContext",
        "RequestHandle", "RequestPath", "RequestScope", "Response", "ResponseEnvelope", "RetryDecision", "Route",
        "RoutedTarget", "SampleResponse", "ServerEnvironment", "StatusValidation", "StubBehavior", "StubTransport",
        "TargetKit", "TargetKitError", "TargetType", "Transport", "TransportRequest", "TransportResponse",
        "TypedTarget", "URLEncodedFormEncoder", "URLEncoding", "URLTarget", "CalendarDate", "FileUpload", "Indirect",
        "AnyCodingKey", "EncodingCheck", "NullableProperty", "RequestModel", "ResponseModel", "JSONText", "ObjectText",
        "QueryFields", "RFC3339",
        "Foundation", "TargetKitJSON", "TargetKitPlugins", "Swift",
    ]
}
