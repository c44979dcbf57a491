// SPDX-License-Identifier: MIT
import TargetKit

/// The fields of the requests of tus 1.0.0, and the meaning of its responses.
enum TusUpload {
    static let version = "1.0.0"
    static let contentType = "application/offset+octet-stream"
    /// The maximum size of content that is sent in the request that creates the upload.
    static let creationSize: Int64 = 1 << 20
    /// The size of requests that have a checksum.
    static let checkedChunkSize: Int64 = 8 << 20

    static func outcome(_ response: UploadResponse, of step: UploadStep.Kind, range: Range<Int64>, length: Int64)
        -> UploadOutcome
    {
        switch step {
        case .discover: discovered(response, length: length)
        case .delete: .deleted
        case .create: created(response, length: length)
        case .query: queried(response, length: length)
        case .append: appended(response, range: range)
        case .plain: response.isSuccess ? .complete : .refused
        }
    }

    private static func discovered(_ response: UploadResponse, length: Int64) -> UploadOutcome {
        let headers = response.headers
        let isTus = headers.contains(.tusVersion) || headers.contains(.tusResumable)
        guard isTus else { return response.isTransient ? .refused : .notSupported }
        let versions = headers.list(.tusVersion)
        guard versions.isEmpty ? response.status != 412 : versions.contains(version) else {
            return .failed(otherVersion(versions))
        }
        if response.isTransient { return .refused }
        let extensions = headers.list(.tusExtension)
        guard !headers.contains(.tusExtension) || extensions.contains("creation") else {
            return .failed(.unsupported("the server doesn't support the tus extension \"creation\""))
        }
        if case .value(let limit) = headers.number(.tusMaxSize), limit > 0, limit < length {
            return .failed(.tooLarge(length: length, limit: limit))
        }
        var support = UploadSupport()
        support.createsWithContent = extensions.contains("creation-with-upload")
        if extensions.contains("checksum") {
            support.checksum = headers[.tusChecksumAlgorithm].flatMap(UploadChecksum.init(listedIn:))
        }
        return .supported(support)
    }

    private static func otherVersion(_ versions: [String]) -> UploadFailure {
        let names = versions.isEmpty ? "another version" : "the versions \(versions.joined(separator: ", "))"
        return .unsupported("the server supports \(names.prefix(80)) of tus, but not \(version)")
    }

    private static func created(_ response: UploadResponse, length: Int64) -> UploadOutcome {
        switch response.status {
        case 412 where response.headers.contains(.tusVersion) || response.headers.contains(.tusResumable):
            return .failed(otherVersion(response.headers.list(.tusVersion)))
        case 413:
            guard case .value(let limit) = response.headers.number(.tusMaxSize), limit < length else {
                return .failed(.tooLarge(length: length, limit: nil))
            }
            return .failed(.tooLarge(length: length, limit: limit))
        case 200...299:
            guard let location = response.headers[.location], !location.isEmpty else {
                return .failed(.invalidResponse("it has no Location with the URL of the upload"))
            }
            let offset: Int64? =
                if case .value(let offset) = response.headers.number(.uploadOffset) { offset } else { nil }
            let expiry = response.headers.uploadExpiry(now: Date())
            return .created(location: location, offset: offset, limits: UploadLimits(), expiry: expiry)
        default:
            return .refused
        }
    }

    private static func queried(_ response: UploadResponse, length: Int64) -> UploadOutcome {
        let headers = response.headers
        let offset = headers.number(.uploadOffset)
        switch response.status {
        case 200...299: break
        default: return response.isFinal ? .gone : .refused
        }
        guard case .value(let offset) = offset else {
            return .failed(.invalidResponse("its Upload-Offset is missing or isn't a number"))
        }
        switch headers.number(.uploadLength) {
        case .absent, .value(length): break
        case .value(let other):
            return .failed(.invalidResponse("its Upload-Length is \(other), but the content has \(length) bytes"))
        case .malformed: return .failed(.invalidResponse("its Upload-Length isn't a number"))
        }
        guard offset <= length else {
            return .failed(.invalidResponse("its Upload-Offset \(offset) is beyond the length \(length)"))
        }
        if offset == length { return .complete }
        return .stored(offset: offset, limits: UploadLimits(), expiry: headers.uploadExpiry(now: Date()))
    }

    private static func appended(_ response: UploadResponse, range: Range<Int64>) -> UploadOutcome {
        switch response.status {
        case 200...299: break
        case 404, 410: return .gone
        case 409: return .unknownOffset(limits: UploadLimits())
        case 460: return .damaged
        default: return .refused
        }
        guard case .value(let offset) = response.headers.number(.uploadOffset) else {
            return .unknownOffset(limits: UploadLimits())
        }
        guard range.lowerBound <= offset, offset <= range.upperBound else {
            let words = "its Upload-Offset is \(offset) after the bytes from \(range.lowerBound) to \(range.upperBound)"
            return .failed(.invalidResponse(words))
        }
        return .stored(
            offset: offset,
            limits: UploadLimits(),
            expiry: response.headers.uploadExpiry(now: Date())
        )
    }
}
