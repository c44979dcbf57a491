// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

@Suite("Pages of a list", .throttled, .timeLimit(.minutes(3)))
struct ProviderPagesTests {
    private enum Orders: TargetType {
        case page(Int)

        var baseURL: URL { .example }
        var path: RequestPath { "/orders" }
        var task: HTTPTask {
            switch self {
            case .page(let number): .query(["page": number])
            }
        }
    }

    private struct OrderPage: Codable, Sendable, Equatable {
        var orders: [Int]
        var next: Int?
    }

    private let sent = Recorder<String>()

    /// Answers with three pages, and with status 500 from the page `failing` on.
    private func provider(failing: Int = .max) -> Provider<Orders> {
        let transport = StubTransport { [sent] request in
            let query = request.urlRequest.url?.query ?? ""
            sent.append(query)
            let number = Int(query.dropFirst("page=".count)) ?? 0
            if number >= failing { return .response(status: 500, data: Data()) }
            let page = OrderPage(orders: [number * 10], next: number < 3 ? number + 1 : nil)
            let link: HTTPHeaders = page.next.map { ["Link": "</orders?page=\($0)>; rel=\"next\""] } ?? [:]
            return .response(status: 200, headers: link, data: try JSONEncoder().encode(page))
        }
        return Provider(transport: transport)
    }

    private func pages(_ provider: Provider<Orders>) -> AsyncThrowingStream<OrderPage, any Error> {
        provider.pages(first: .page(1)) { (page: OrderPage) in page.next.map { .page($0) } }
    }

    @Test("They are requested one after another until a page has no successor")
    func all() async throws {
        var orders: [Int] = []
        for try await page in pages(provider()) { orders += page.orders }
        #expect(orders == [10, 20, 30])
        #expect(sent.elements == ["page=1", "page=2", "page=3"])
    }

    @Test("A page is requested only when the reader asks for it")
    func lazily() async throws {
        for try await page in pages(provider()) where page.orders == [20] { break }
        #expect(sent.elements == ["page=1", "page=2"])
    }

    @Test("A failed call ends the sequence with its error")
    func failure() async throws {
        var iterator = pages(provider(failing: 2)).makeAsyncIterator()
        #expect(try await iterator.next()?.orders == [10])
        let error = await #expect(throws: TargetKitError.self) { try await iterator.next() }
        #expect(error?.stage == .status)
        #expect(try await iterator.next() == nil)
        #expect(sent.count == 2)
    }

    @Test("Responses lead to the next page by their header fields")
    func responses() async throws {
        var statuses: [Int] = []
        let pages = provider().pages(first: .page(1)) { (response: Response) in
            response.headers["Link"].flatMap { link in
                link.firstIndex(of: "=").flatMap { Int(link[link.index(after: $0)...].prefix(1)) }.map { .page($0) }
            }
        }
        for try await response in pages { statuses.append(response.statusCode) }
        #expect(statuses == [200, 200, 200])
    }

    @Test("Cancelling the reader cancels the call")
    func cancelled() async throws {
        let reached = Gate()
        let transport = StubTransport { _ in
            reached.open()
            try await Gate().waitUnlessCancelled()
            return .response(status: 200, data: Data())
        }
        let provider = Provider<Orders>(transport: transport)
        let pages = pages(provider)
        let reader = Task { for try await _ in pages {} }
        await reached.wait()
        reader.cancel()
        _ = await reader.result
        #expect(provider.scope.inFlightCount == 0)
    }
}
