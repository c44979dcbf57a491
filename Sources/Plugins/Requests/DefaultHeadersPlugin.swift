// SPDX-License-Identifier: MIT
import TargetKit

/// Adds `User-Agent`, `Accept-Language` and `Accept` to each request, which describe the app, the user's languages, and
/// the app's supported media types. Existing fields aren't changed.
///
/// ```swift
/// Provider<Shop>(plugins: [DefaultHeadersPlugin()])
/// // Accept: application/json, */*;q=0.8
/// // Accept-Language: zh-Hans-CN, en;q=0.9
/// // User-Agent: Shop/2.4 (iOS 17.5.0)
/// ```
public struct DefaultHeadersPlugin: Plugin {
    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { .prepare }

    private let accept: String?
    private let userAgent: String?
    private let languages: @Sendable () -> [String]
    private let others: HTTPHeaders

    /// Creates a plugin that adds these fields if they are missing.
    ///
    /// - Parameters:
    ///   - accept: The value of `Accept` (RFC 9110 §12.5.1); default: JSON is preferred; `nil` to omit the field.
    ///   - userAgent: The value of `User-Agent` (RFC 9110 §10.1.5); default: ``systemUserAgent``; `nil` to omit the
    ///     field.
    ///   - languages: Returns language tags or locale identifiers in order of preference, at each request; default: the
    ///     user's languages, on Linux from `LANGUAGE`, `LC_ALL`, `LC_MESSAGES` and `LANG`. If there are none, the field
    ///     is omitted.
    ///   - others: Additional fields for every request, for example the app's version or platform; default: none.
    public init(
        accept: String? = "application/json, */*;q=0.8",
        userAgent: String? = Self.systemUserAgent,
        languages: (@Sendable () -> [String])? = nil,
        others: HTTPHeaders = [:]
    ) {
        self.accept = accept
        self.userAgent = userAgent
        self.languages = languages ?? { Self.preferredLanguages }
        self.others = others
    }

    /// Adds the missing fields.
    ///
    /// - Throws: `InvalidRequest` for a value with a line break.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        var request = request
        try request.setIfMissing(.accept, value: accept)
        try request.setIfMissing(.acceptLanguage, value: Self.acceptLanguage(languages()))
        try request.setIfMissing(.userAgent, value: userAgent)
        for field in others { try request.setIfMissing(field.name, value: field.value) }
        return request
    }

    /// The user's languages as tags (RFC 5646), in order of preference.
    private static var preferredLanguages: [String] {
        #if canImport(Darwin)
        Locale.preferredLanguages
        #else
        // Foundation returns `en-001` regardless of the environment (Linux, Swift 6.3.1).
        PreferredLanguages.app
        #endif
    }

    /// The value of `Accept-Language` (RFC 9110 §12.5.4); `nil` without languages. The first language has no weight,
    /// and the weights of the others decrease by 0.1, down to 0.1. Invalid language tags and languages after the tenth
    /// are omitted.
    package static func acceptLanguage(_ languages: [String]) -> String? {
        let tags = languages.compactMap(PreferredLanguages.tag).reduce(into: [String]()) { tags, tag in
            if tags.count < 10, !tags.contains(tag) { tags.append(tag) }
        }
        guard !tags.isEmpty else { return nil }
        return tags.enumerated()
            .map { index, tag in index == 0 ? tag : "\(tag);q=0.\(10 - index)" }
            .joined(separator: ", ")
    }
}

extension DefaultHeadersPlugin {
    /// The name and version of the app, and the system, for example `Shop/2.4 (iOS 17.5.0)`. Without a bundle, the name
    /// of the process is used.
    public static var systemUserAgent: String {
        let info = Bundle.main.infoDictionary ?? [:]
        let name = info["CFBundleName"] as? String ?? info["CFBundleExecutable"] as? String
        return userAgent(
            app: name ?? ProcessInfo.processInfo.processName,
            version: info["CFBundleShortVersionString"] as? String
        )
    }

    /// The value of `User-Agent` for an app, without characters that aren't allowed in a product's name or version.
    ///
    /// - Parameters:
    ///   - app: The product's name (RFC 9110 §10.1.5).
    ///   - version: The product's version. If it is `nil` or has no allowed characters, only the name is used.
    package static func userAgent(app: String, version: String?) -> String {
        let name = token(app)
        let version = version.map(token).flatMap { $0.isEmpty ? nil : "/" + $0 } ?? ""
        let system = ProcessInfo.processInfo.operatingSystemVersion
        let number = "\(system.majorVersion).\(system.minorVersion).\(system.patchVersion)"
        return "\(name.isEmpty ? "App" : name)\(version) (\(platform) \(number))"
    }

    /// The characters of a token (RFC 9110 §5.6.2).
    private static func token(_ text: String) -> String {
        text.filter { String($0).isToken }
    }

    private static var platform: String {
        #if os(iOS)
        "iOS"
        #elseif os(macOS)
        "macOS"
        #elseif os(tvOS)
        "tvOS"
        #elseif os(watchOS)
        "watchOS"
        #elseif os(visionOS)
        "visionOS"
        #else
        "Linux"
        #endif
    }
}

extension URLRequest {
    fileprivate mutating func setIfMissing(_ name: HTTPHeaderName, value: String?) throws {
        guard let value, self.value(forHTTPHeaderField: name.rawValue) == nil else { return }
        try setField(name, to: value)
    }
}
