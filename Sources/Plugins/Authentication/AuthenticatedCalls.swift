// SPDX-License-Identifier: MIT
import TargetKit

/// What an ``AuthenticationPlugin`` knows of the calls that are under way.
struct AuthenticatedCalls: Sendable {
    /// What a call has shown of itself so far.
    struct Call: Sendable {
        let session: Int
        /// The credential's generation when the call began.
        let first: Int
        /// That of its latest attempt; `nil` when nobody was signed in.
        var applied: Int?
    }

    private static let leftLimit = 64

    private var underWay: [RequestContext.ID: Call] = [:]
    /// Calls that were cancelled or ran out of time, the latest last: an exchange that others share goes on in their name.
    private var left: [(id: RequestContext.ID, call: Call)] = []
    /// The oldest session of which one of these is not known any more.
    private var oldestForgotten = Int.max

    subscript(id: RequestContext.ID) -> Call? {
        underWay[id] ?? left.last { $0.id == id }?.call
    }

    /// What is known of the call; one that begins is noted. `nil` when it may belong to a session before that one.
    mutating func call(_ context: RequestContext, in now: (session: Int, generation: Int)) -> Call? {
        if let known = self[context.id] { return known }
        let call = Call(session: now.session, first: now.generation)
        // Later there is none only when others share the exchange of a call that is over already.
        guard context.attempt == 0 else { return oldestForgotten < now.session ? nil : call }
        underWay[context.id] = call
        return call
    }

    /// Notes what an attempt goes out with.
    mutating func apply(_ generation: Int?, to id: RequestContext.ID) {
        if underWay[id] != nil {
            underWay[id]?.applied = generation
        } else if let index = left.lastIndex(where: { $0.id == id }) {
            left[index].call.applied = generation
        }
    }

    /// Lets go of a call that is over, though not at once of one whose exchange may go on for others.
    mutating func end(_ id: RequestContext.ID, with result: Result<Response, TargetKitError>) {
        guard let call = underWay.removeValue(forKey: id), case .failure(let error) = result,
            [.cancelled, .transport].contains(error.stage)
        else { return }
        left.append((id, call))
        if left.count > Self.leftLimit { oldestForgotten = min(oldestForgotten, left.removeFirst().call.session) }
    }
}
