// SPDX-License-Identifier: MIT

extension URLEncoding {
    /// Moya's name; use `.url`.
    @available(*, unavailable, renamed: "url")
    public static var `default`: URLEncoding { URLEncoding() }

    /// Moya's name; use `.query`.
    @available(*, unavailable, renamed: "query")
    public static var queryString: URLEncoding { URLEncoding() }

    /// Moya's name; use `.form`.
    @available(*, unavailable, renamed: "form")
    public static var httpBody: URLEncoding { URLEncoding() }
}

extension JSONEncoding {
    /// Moya's name; use `.json`.
    @available(*, unavailable, renamed: "json")
    public static var `default`: JSONEncoding { JSONEncoding() }
}
