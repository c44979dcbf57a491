// SPDX-License-Identifier: MIT
import TargetKit

/// The fields of the requests of HTTP's resumable uploads (draft-ietf-httpbis-resumable-upload-12), and the meaning of
/// its responses.
enum HTTPUpload {
    /// The draft's interop version. A server ignores requests with another version.
    static let interopVersion = "8"
    static let contentType = "application/partial-upload"
    private static let problems = "https://iana.org/assignments/http-problem-types#"

    static func outcome(_ response: UploadResponse, of step: UploadStep, length: Int64) -> UploadOutcome {
        switch step.kind {
        case .discover: discovered(response, length: length)
        case .delete: .deleted
        case .create: created(response, step: step, length: length)
        case .query: queried(response, length: length)
        case .append: appended(response, step: step, length: length)
        case .plain: response.isSuccess ? .complete : .refused
        }
    }

    private static func discovered(_ response: UploadResponse, length: Int64) -> UploadOutcome {
        if response.isTransient { return .refused }
        let announced = UploadLimits.parsed(response.headers)
        // Before version 12 of the draft, servers named the media type instead.
        let accepts = response.headers.list(.acceptPatch).contains { $0.mediaType == contentType }
        guard response.isSuccess, announced != nil || accepts else { return .notSupported }
        let limits = announced ?? UploadLimits()
        // Smaller content isn't resumable.
        if let limit = limits.minSize, limit > length { return .notSupported }
        if let failure = failure(of: limits, length: length) { return .failed(failure) }
        return .supported(UploadSupport(limits: limits))
    }

    /// The reason why the server doesn't accept content of a length; `nil` if it does.
    static func failure(of limits: UploadLimits, length: Int64) -> UploadFailure? {
        if let limit = limits.maxSize, limit < length { return .tooLarge(length: length, limit: limit) }
        return nil
    }

    private static func created(_ response: UploadResponse, step: UploadStep, length: Int64) -> UploadOutcome {
        let limits = UploadLimits(response.headers)
        if response.status == 413 {
            if let failure = failure(of: limits, length: length) { return .failed(failure) }
            // The server supports the protocol, so the content is sent in parts.
            if step.isCompleting, let size = limits.maxAppendSize, size > 0, size < length {
                return .unknownOffset(limits: limits)
            }
            return .refused
        }
        if step.isCompleting {
            return response.isSuccess || response.headers.uploadComplete == true ? .complete : .refused
        }
        guard response.isSuccess else { return .refused }
        guard let location = response.headers[.location], !location.isEmpty else {
            return .failed(.invalidResponse("it has no Location with the URL of the upload"))
        }
        return .created(location: location, offset: 0, limits: limits, expiry: nil)
    }

    private static func queried(_ response: UploadResponse, length: Int64) -> UploadOutcome {
        let headers = response.headers
        switch response.status {
        case 200...299: break
        default: return response.isFinal ? .gone : .refused
        }
        if case .value(let other) = headers.number(.uploadLength, allowsParameters: true), other != length {
            return .failed(.invalidResponse("its Upload-Length is \(other), but the content has \(length) bytes"))
        }
        if headers.uploadComplete == true { return .complete }
        guard case .value(let offset) = headers.number(.uploadOffset, allowsParameters: true) else {
            return .failed(.invalidResponse("its Upload-Offset is missing or isn't a number"))
        }
        guard offset <= length else {
            return .failed(.invalidResponse("its Upload-Offset \(offset) is beyond the length \(length)"))
        }
        return .stored(offset: offset, limits: UploadLimits(headers), expiry: nil)
    }

    private static func appended(_ response: UploadResponse, step: UploadStep, length: Int64) -> UploadOutcome {
        let headers = response.headers
        let limits = UploadLimits(headers)
        if headers.uploadComplete == true { return .complete }
        switch response.status {
        case 404, 410: return .gone
        case 409: return .unknownOffset(limits: limits)
        case 400 where response.hasProblem(problems + "completed-upload"): return .unknownOffset(limits: limits)
        case 413:
            if let failure = failure(of: limits, length: length) { return .failed(failure) }
            guard let size = limits.maxAppendSize, size > 0, size < step.range.byteCount else { return .refused }
            return .unknownOffset(limits: limits)
        case 200...299: break
        default: return .refused
        }
        // The server hasn't completed the upload, or doesn't report it.
        if step.isCompleting { return .unknownOffset(limits: limits) }
        let range = step.range
        switch headers.number(.uploadOffset, allowsParameters: true) {
        case .value(let offset) where range.lowerBound <= offset && offset <= range.upperBound:
            return .stored(offset: offset, limits: limits, expiry: nil)
        case .value(let offset):
            let words = "its Upload-Offset is \(offset) after the bytes from \(range.lowerBound) to \(range.upperBound)"
            return .failed(.invalidResponse(words))
        case .absent, .malformed: return .stored(offset: range.upperBound, limits: limits, expiry: nil)
        }
    }
}

extension UploadResponse {
    /// Whether the body is a problem document (RFC 9457) of a type.
    fileprivate func hasProblem(_ type: String) -> Bool {
        struct Problem: Decodable { var type: String? }
        guard headers[.contentType]?.lowercased().hasPrefix("application/problem+json") == true else { return false }
        return (try? JSONDecoder().decode(Problem.self, from: data))?.type == type
    }
}
