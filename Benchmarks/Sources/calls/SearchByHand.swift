// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The same as ``Search`` with nothing but Foundation: the parameters in order of their names, the request, a stub that is
/// awaited, and the check of its status.
enum SearchByHand {
    /// What a call cannot cost less than.
    @inline(never)
    static func data(_ base: URL, page: Int) async throws -> Data {
        let (status, data) = try await stub(request(base, page: page))
        guard (200..<300).contains(status) else { throw URLError(.badServerResponse) }
        return data
    }

    private static func request(_ base: URL, page: Int) throws -> URLRequest {
        let url = base.appendingPathComponent("/products/search")
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: false) else { throw URLError(.badURL) }
        components.queryItems = [
            URLQueryItem(name: "city", value: "Zürich"), URLQueryItem(name: "page", value: "\(page)"),
            URLQueryItem(name: "query", value: "green tea"), URLQueryItem(name: "sort", value: "price"),
            URLQueryItem(name: "stock", value: "1"),
        ]
        guard let url = components.url else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue("benchmark/1", forHTTPHeaderField: "X-Client")
        return request
    }

    @inline(never)
    private static func stub(_ request: URLRequest) async throws -> (status: Int, data: Data) {
        (200, Data())
    }
}
