// SPDX-License-Identifier: MIT

extension TestServer {
    /// How a ``TestServer`` behaves before it comes to answering. The closures run on the server's thread: they must
    /// not block.
    public struct Options: Sendable {
        /// What to do once the head of a request is there.
        public enum HeadDecision: Sendable {
            /// Read the body, then ask the server's closure. The default.
            case readBody
            /// Answer at once. What comes of the body meanwhile is thrown away; the request is recorded without a body.
            case reply(TestServer.Reply)
        }

        /// What to do with `Expect: 100-continue` (RFC 9110 §10.1.1).
        public enum ExpectContinue: Sendable, Hashable {
            /// Answer `100 Continue` as soon as the head is there.
            case answer
            /// Say nothing and wait for the body.
            case ignore
        }

        /// Where the server listens. Default: 127.0.0.1.
        public var address = TestServer.Address.ipv4
        /// Whether bodies are kept. When not, they are counted and digested only. Default: yes.
        public var storesBodies = true
        /// Whether requests are kept. When not, they are counted only, for runs of very many calls. Default: yes.
        public var recordsRequests = true
        /// How `Expect: 100-continue` is met. Default: with `100 Continue`.
        public var expectContinue = ExpectContinue.answer
        /// Whether a client that has closed its half still gets its answer. Default: no, a FIN means that the client is
        /// gone.
        public var toleratesHalfClose = false
        /// The kernel's receive buffer of each connection in bytes; nil leaves the system's. Linux doubles the value.
        public var receiveBufferSize: Int?
        /// The kernel's send buffer of each connection in bytes; nil leaves the system's. Linux doubles the value.
        public var sendBufferSize: Int?
        /// The longest head that is read, in bytes; a longer one is answered with 431. Default: 1 MiB.
        public var maximumHeadSize = 1 << 20
        /// Steps to run on a new connection, whose number it gets, before anything is read. Default: none.
        public var onConnect: (@Sendable (_ connection: Int) -> [TestServer.Step])?
        /// Decides, from the head, whether to answer before the body is there. Default: reads the body.
        public var onHead: (@Sendable (_ request: TestServer.Request) -> HeadDecision)?

        /// The defaults.
        public init() {}
    }
}
