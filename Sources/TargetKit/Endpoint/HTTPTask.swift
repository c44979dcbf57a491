// SPDX-License-Identifier: MIT

/// The query and body of a request, and the destination of the response body.
///
/// The three parts are independent. Start with one and add others to it.
///
/// ```swift
/// .plain
/// .json(order)
/// .json(order).query(["dry-run": true])
/// .multipart(form).query(["album": id])
/// .download(to: file).parameters(["size": "large"])
/// ```
///
/// Values are encoded when the request is created. A value that can't be encoded fails the call.
public struct HTTPTask: Sendable {
    /// No parameters, no body, and the response in memory.
    public static let plain = Self()

    /// The query values, in the order in which they were added. They are encoded when the request is created.
    var queries: [@Sendable () throws -> String] = []
    /// The content of the body.
    package var content = RequestContent.none
    /// The parameters whose encoding decides between query and body.
    var parameters: [EncodedParameters] = []
    /// A dictionary and its encoding.
    typealias EncodedParameters = (values: [String: any Sendable], encoding: any ParameterEncoding)
    /// The destination of the response body.
    var destination = TransportRequest.Destination.memory()
    /// The final destination of a download.
    package var download: DownloadDestination?
    /// Performs the call; if `nil`, the call sends one request.
    package var driver: (any TransferDriver)?
    /// Whether a second driver was added, which is an error of the call.
    var hasTwoDrivers = false
    /// Whether a second body was added, which is an error of the call.
    var hasTwoBodies = false

    /// An encoder with sorted keys, so that equal values give equal bytes.
    static let jsonEncoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }()
}

/// The content of a request body.
package enum RequestContent: Sendable {
    case none
    case data(Data, contentType: String?)
    /// Bytes that are encoded when the request is created.
    case encoded(contentType: String, @Sendable () throws -> Data)
    case multipart(MultipartForm)
    case file(URL)
}

extension HTTPTask {
    /// Whether a call may send more than one request.
    var hasSeveralRequests: Bool { driver != nil && download?.isResumable ?? true }

    /// Receives the response in memory, without a driver.
    mutating func receiveInMemory() {
        destination = .memory()
        removeDriver()
    }

    mutating func removeDriver() { (driver, download) = (nil, nil) }

    /// The direction of the file that is sent or stored.
    package var transferDirection: TransferProgress.Direction {
        if download != nil { return .download }
        if case .none = content { return .download }
        return .upload
    }
}

extension HTTPTask: RedactedDescription {
    /// The kinds of the task's parts, without their values.
    var redactedDescription: String {
        var parts: [String] = []
        if !queries.isEmpty { parts.append("a query") }
        if !parameters.isEmpty { parts.append("parameters") }
        switch content {
        case .none: break
        case .data: parts.append("a data body")
        case .encoded("application/json", _): parts.append("a JSON body")
        case .encoded(URLEncoding.contentType, _): parts.append("a form")
        case .encoded(let type, _): parts.append("a body of type \(type.inOneLine)")
        case .multipart: parts.append("a multipart form")
        case .file(let url): parts.append("the file \(RedactedURL(url))")
        }
        if download == nil, let driver = driver as? any ReflectsDescription {
            parts.append("with \(driver.description)")
        }
        if let download { parts.append("into \(download)") }
        return parts.isEmpty ? "plain" : parts.joined(separator: ", ")
    }
}
