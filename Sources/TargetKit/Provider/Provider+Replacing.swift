// SPDX-License-Identifier: MIT

extension Provider {
    /// Returns a provider with these closures and options and another transport, without redirects and cookies.
    /// Downloads are received in memory.
    ///
    /// - Parameter plugins: Returns the plugins, out of those of this provider; default: none.
    package func replacing(
        transport: any Transport,
        plugins: ([any Plugin]) -> [any Plugin] = { _ in [] }
    ) -> Provider {
        Provider(
            endpointClosure: { [endpointClosure] target in
                var endpoint = try endpointClosure(target)
                endpoint.task.receiveInMemory()
                return endpoint
            },
            requestClosure: configuration.requestClosure,
            transport: transport,
            plugins: plugins(configuration.plugins.all),
            options: options,
            redirects: .none
        )
    }

    /// The request of an endpoint, before plugins prepare it.
    package func originalRequest(of endpoint: Endpoint) async throws -> URLRequest {
        guard let requestClosure = configuration.requestClosure else { return try endpoint.urlRequest() }
        return try await requestClosure(endpoint)
    }
}
