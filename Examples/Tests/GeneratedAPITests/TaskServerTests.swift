// SPDX-License-Identifier: MIT
import GeneratedAPI
import TargetKit
import TargetKitPlugins
import TaskServer
import Testing

@Suite("The generated calls and their server", .serialized)
struct TaskServerTests {
    /// A provider whose calls go to the server, on the port that it has.
    private func provider(at server: TaskServer) -> Provider<TasksAPI> {
        Provider(endpointClosure: { target in
            var endpoint = try Endpoint(target: target)
            endpoint.url = server.baseURL.appending(path: endpoint.url.path).appending(queryItems: [])
            return endpoint
        })
    }

    @Test("A task is added, listed, read and deleted")
    func tasks() async throws {
        let server = try await TaskServer.start()
        let provider = provider(at: server)
        let trigger = Trigger.placeTrigger(PlaceTrigger(name: "tea shop"))
        let new = NewTask(title: "Buy tea", due: CalendarDate(year: 2026, month: 2, day: 28), trigger: trigger)
        let added = try await provider.request(.addTask(new), as: TaskModel.self)
        #expect(added.title == "Buy tea" && added.state == .open && added.due == new.due)
        // The server stored the tag that the union added.
        #expect(added.trigger == trigger)
        #expect(try await provider.request(.listTasks(state: .open, limit: 5), as: [TaskModel].self) == [added])
        #expect(try await provider.request(.getTask(id: added.id), as: TaskModel.self) == added)
        #expect(try await provider.request(.deleteTask(id: added.id)).statusCode == 204)
        await server.stop()
    }

    @Test("A problem is the error of the call")
    func problems() async throws {
        let server = try await TaskServer.start()
        let provider = provider(at: server)
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(.getTask(id: 9)) }
        #expect((error?.appError as? Problem) == Problem(title: "There is no task 9.", status: 404))
        await server.stop()
    }

    @Test("A stubbed call has the document's example")
    func samples() async throws {
        let provider = Provider<TasksAPI>(stubClosure: { _ in .immediate })
        let task = try await provider.request(.getTask(id: 1), as: TaskModel.self)
        #expect(task.title == "Buy tea")
    }
}
