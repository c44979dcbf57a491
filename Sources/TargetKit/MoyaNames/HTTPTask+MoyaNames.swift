// SPDX-License-Identifier: MIT

extension HTTPTask {
    /// Moya's name; use `.plain`.
    @available(*, unavailable, renamed: "plain")
    public static var requestPlain: HTTPTask { .plain }

    /// Moya's name; use `.data(_:)`.
    @available(*, unavailable, renamed: "data(_:)")
    public static func requestData(_ data: Data) -> HTTPTask { .data(data) }

    /// Moya's name; use `.json(_:)`.
    @available(*, unavailable, renamed: "json(_:)")
    public static func requestJSONEncodable(_ value: some Encodable & Sendable) -> HTTPTask { .plain }

    /// Moya's name; use `.json(_:encoder:)`.
    @available(*, unavailable, renamed: "json(_:encoder:)")
    public static func requestCustomJSONEncodable(
        _ value: some Encodable & Sendable,
        encoder: JSONEncoder
    ) -> HTTPTask { .plain }

    /// Moya's name; use `.parameters(_:encoding:)`.
    @available(*, unavailable, renamed: "parameters(_:encoding:)")
    public static func requestParameters(
        parameters: [String: any Sendable],
        encoding: any ParameterEncoding
    ) -> HTTPTask { .plain }

    /// Moya's name; use `.data(_:)` and `.query(_:)`.
    @available(*, unavailable, message: "use .data(body).query(parameters)")
    public static func requestCompositeData(bodyData: Data, urlParameters: [String: any Sendable]) -> HTTPTask {
        .plain
    }

    /// Moya's name; use `.upload(file:)`.
    @available(*, unavailable, renamed: "upload(file:)")
    public static func uploadFile(_ file: URL) -> HTTPTask { .plain }

    /// Moya's name; use `.multipart(_:)`.
    @available(*, unavailable, renamed: "multipart(_:)")
    public static func uploadMultipart(_ form: MultipartForm) -> HTTPTask { .plain }

    /// Moya's name; use `.download(to:)`.
    @available(*, unavailable, renamed: "download(to:)")
    public static func downloadDestination(_ destination: DownloadDestination) -> HTTPTask { .plain }
}
