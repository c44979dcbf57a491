// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitRedaction

/// Logs requests and responses, without the values of fields with secrets.
public final class NetworkLoggerPlugin: PluginType, Sendable {
    private let settings: Locked<Configuration>

    /// The settings of the log.
    public var configuration: Configuration {
        get { settings.withLock { $0 } }
        set { settings.withLock { $0 = newValue } }
    }

    /// Creates a plugin.
    ///
    /// - Parameter configuration: The settings of the log; default: the method and the header fields, printed to
    ///   standard output.
    public init(configuration: Configuration = Configuration()) {
        settings = Locked(configuration)
    }

    /// A plugin that logs the method and the header fields.
    public class var `default`: NetworkLoggerPlugin { NetworkLoggerPlugin() }

    /// A plugin that logs everything.
    public class var verbose: NetworkLoggerPlugin {
        NetworkLoggerPlugin(configuration: Configuration(logOptions: .verbose))
    }

    /// Logs the request.
    public func willSend(_ request: any RequestType, target: any TargetType) {
        if configuration.logOptions.contains(.formatRequestAscURL) {
            _ = request.cURLDescription { [configuration] command in
                configuration.output(target, [configuration.formatter.entry("Request", command, target)])
            }
        } else {
            configuration.output(target, lines(of: request, target: target))
        }
    }

    /// Logs the response or the error.
    public func didReceive(_ result: Result<Response, MoyaError>, target: any TargetType) {
        switch result {
        case .success(let response):
            configuration.output(target, lines(of: response, target: target, logsBody: .successResponseBody))
        case .failure(let error):
            guard let response = error.response else {
                let text = "Error calling \(Self.name(of: target)) : \(Self.text(of: error))"
                return configuration.output(target, [entry("Error", message: text, target: target)])
            }
            let bodyOptions: Configuration.LogOptions = [.successResponseBody, .errorResponseBody]
            configuration.output(target, lines(of: response, target: target, logsBody: bodyOptions))
        }
    }

    /// The enum case or the type, without associated values and properties, because these can be secrets.
    private static func name(of target: any TargetType) -> String {
        let target = (target as? MultiTarget)?.target ?? target
        let mirror = Mirror(reflecting: target)
        guard mirror.displayStyle == .enum else { return String(describing: type(of: target)) }
        return mirror.children.first?.label ?? "\(target)"
    }

    /// The error with Alamofire's names, as Moya's logger prints it.
    private static func text(of error: MoyaError) -> String {
        let text = TextRedactor.redacted("\(error)", by: Redaction())
        return text.replacingOccurrences(of: String(reflecting: AFError.self), with: "Alamofire.AFError")
    }

    private func entry(_ identifier: String, message: String, target: any TargetType) -> String {
        configuration.formatter.entry(identifier, message, target)
    }

    private func lines(of request: any RequestType, target: any TargetType) -> [String] {
        guard let urlRequest = request.request else {
            return [entry("Request", message: "(invalid request)", target: target)]
        }
        let options = configuration.logOptions
        var lines = [entry("Request", message: urlRequest.url?.loggedText ?? "no URL", target: target)]
        if options.contains(.requestHeaders) {
            let fields = request.sessionHeaders.merging(urlRequest.allHTTPHeaderFields ?? [:]) { $1 }
            let redaction = (request as? Request)?.redaction ?? .standard
            lines.append(entry("Request Headers", message: redaction.loggedText(of: fields), target: target))
        }
        if options.contains(.requestBody), let stream = urlRequest.httpBodyStream {
            lines.append(entry("Request Body Stream", message: stream.description, target: target))
        }
        if options.contains(.requestBody), let body = urlRequest.httpBody {
            lines.append(entry("Request Body", message: configuration.formatter.requestData(body), target: target))
        }
        if options.contains(.requestMethod), let method = urlRequest.httpMethod {
            lines.append(entry("HTTP Request Method", message: method, target: target))
        }
        return lines
    }

    private func lines(
        of response: Response,
        target: any TargetType,
        logsBody options: Configuration.LogOptions
    ) -> [String] {
        let head = response.response.map(\.loggedText)
        let text = head ?? "Received empty network response for \(Self.name(of: target))."
        var lines = [entry("Response", message: text, target: target)]
        if !configuration.logOptions.isDisjoint(with: options) {
            lines.append(
                entry("Response Body", message: configuration.formatter.responseData(response.data), target: target)
            )
        }
        return lines
    }
}

extension HeaderRedaction {
    fileprivate func loggedText(of fields: [String: String]) -> String {
        let fields = fields.map { ($0.key, loggedValue($0.value, for: HTTPHeaderName(rawValue: $0.key))) }
        return Dictionary(fields) { $1 }.description
    }

    /// The value without secrets, with the names in the metadata of an upload.
    func loggedValue(_ value: String, for name: HTTPHeaderName) -> String {
        if isSecret(name) { return SecretFields.placeholder }
        if name == "Upload-Metadata" { return Redaction().metadata(value) }
        return Self.hasURL(name) ? RedactedURL.references(in: value) : RedactedURL.inside(value)
    }
}

extension HTTPURLResponse {
    /// The status, the URL and the header fields, without secrets.
    fileprivate var loggedText: String {
        let fields = HeaderRedaction.standard.loggedText(of: headers.dictionary)
        return "{ URL: \(url?.loggedText ?? "none") } { Status Code: \(statusCode), Headers \(fields) }"
    }
}

extension URL {
    /// The URL without user and password, and without the values of secret query items.
    var loggedText: String {
        let text = RedactedURL(self).description
        guard let query = query(percentEncoded: true) else { return text }
        return text + Redaction().url("?" + query)
    }
}
