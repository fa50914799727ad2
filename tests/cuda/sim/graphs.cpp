// Graphs: launches of one stream, captured, and given to streams again.
#include <chrono>
#include <cstdlib>
#include <thread>

#include "api.h"

using namespace sim;

struct Graph {
    std::vector<std::function<int(Stream*)>> launches;
};

API cuStreamBeginCapture_v2(Stream* stream, int mode) {
    ENTER(cuStreamBeginCapture_v2);
    STREAM;
    if (mode < 0 || mode > 2 || stream->capturing) return kInvalidValue;
    stream->capturing = true;
    if (const char* longer = std::getenv("LAZYARRAY_SIM_CAPTURE_US")) {  // for others to come between
        s.tables.unlock();
        std::this_thread::sleep_for(std::chrono::microseconds(std::atoi(longer)));
        s.tables.lock();
    }
    return kSuccess;
}

API cuStreamEndCapture(Stream* stream, Graph** graph) {
    ENTER(cuStreamEndCapture);
    STREAM;
    if (!stream->capturing) return kInvalidValue;
    stream->capturing = false;
    *graph = new Graph{std::move(stream->captured)};
    stream->captured.clear();
    s.handles.insert(*graph);
    return kSuccess;
}

API cuGraphInstantiateWithFlags(Graph** made, Graph* graph, unsigned long long) {
    ENTER(cuGraphInstantiateWithFlags);
    if (!s.handles.count(graph)) return kInvalidHandle;
    *made = new Graph(*graph);
    s.handles.insert(*made);
    return kSuccess;
}

API cuGraphLaunch(Graph* graph, Stream* stream) {
    {
        ENTER(cuGraphLaunch);
        STREAM;
        if (!s.handles.count(graph)) return kInvalidHandle;
        s.note("cuGraphLaunch stream=%zu launches=%zu", stream->number, graph->launches.size());
    }
    for (auto& launch : graph->launches)
        if (int status = launch(stream)) return status;
    return kSuccess;
}

static int destroy(Graph* graph) {
    if (!Simulator::one().handles.erase(graph)) return kInvalidHandle;
    delete graph;
    return kSuccess;
}

API cuGraphDestroy(Graph* graph) {
    ENTER(cuGraphDestroy);
    return destroy(graph);
}

API cuGraphExecDestroy(Graph* graph) {
    ENTER(cuGraphExecDestroy);
    return destroy(graph);
}
