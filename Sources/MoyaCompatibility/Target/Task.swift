// SPDX-License-Identifier: MIT
import Foundation

/// The parameters and the body of a request, and the destination of the response's body.
///
/// As with Moya, `Task` is this type in files that import this module. Use `_Concurrency.Task` for Swift's type.
public enum Task {
    /// No parameters and no body.
    case requestPlain
    /// A body of bytes.
    case requestData(Data)
    /// A JSON body.
    case requestJSONEncodable(any Encodable)
    /// A JSON body of an encoder.
    case requestCustomJSONEncodable(any Encodable, encoder: JSONEncoder)
    /// Parameters in the query or body, depending on the encoding.
    case requestParameters(parameters: [String: Any], encoding: any ParameterEncoding)
    /// A body of bytes, and parameters in the query.
    case requestCompositeData(bodyData: Data, urlParameters: [String: Any])
    /// Parameters in the body, and others in the query.
    case requestCompositeParameters(
        bodyParameters: [String: Any],
        bodyEncoding: any ParameterEncoding,
        urlParameters: [String: Any]
    )
    /// The contents of a file as the body.
    case uploadFile(URL)
    /// A body of the type `multipart/form-data`.
    case uploadMultipart([MultipartFormData])
    /// A body of the type `multipart/form-data`, and parameters in the query.
    case uploadCompositeMultipart([MultipartFormData], urlParameters: [String: Any])
    /// A response that is stored in a file.
    case downloadDestination(DownloadDestination)
    /// Parameters in the query or body, depending on the encoding, and a response that is stored in a file.
    case downloadParameters(
        parameters: [String: Any],
        encoding: any ParameterEncoding,
        destination: DownloadDestination
    )
}

extension Task {
    /// The parts of a multipart body; `nil` for other tasks.
    var parts: [MultipartFormData]? {
        switch self {
        case .uploadMultipart(let parts), .uploadCompositeMultipart(let parts, _): parts
        default: nil
        }
    }

    /// The destination of a download; `nil` for other tasks.
    var destination: DownloadDestination? {
        switch self {
        case .downloadDestination(let destination), .downloadParameters(_, _, let destination): destination
        default: nil
        }
    }

    /// The file of an upload; `nil` for other tasks.
    var file: URL? {
        if case .uploadFile(let url) = self { url } else { nil }
    }

    /// Whether the task sends a file or a form, so that its progress is the upload's.
    var isUpload: Bool { file != nil || parts != nil }
}
