// What NCCL does, between processes of one machine: a call is two tasks of its stream.
//
// The first sends: messages are files, `PATH.source.target.number`, which the target removes. The
// second is ready when all that it takes is there. Both are soon run, whether or not anybody here
// waits for them: another process may.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api.h"

using namespace sim;

namespace {

constexpr auto kPatience = std::chrono::seconds(60);  // for the others, at the beginning
constexpr auto kIdle = std::chrono::milliseconds(2);  // before a task is run that nobody needs

struct Move {  // of bytes to or from a rank
    int rank;
    uint64_t number;
    Address at;
    size_t bytes;
};

struct Comm {
    std::string path;
    int rank;
    std::vector<uint64_t> posted, taken;  // by rank; tables
    Stream* last = nullptr;               // where its last call ends; tables
    uint64_t end = 0;
    std::atomic<bool> aborted{false};     // what waits for others is over
    int size() const { return static_cast<int>(posted.size()); }
};

struct Job {
    std::vector<Move> posts, takes;
    Address result = 0;  // of a reduction: of all that is taken
    int type = 0, op = 0;
    std::vector<Access> accesses;
};

struct Group {
    int depth = 0;
    Job job;
    Comm* comm = nullptr;
    Stream* stream = nullptr;
};
thread_local Group group;

std::string file(const Comm& c, int source, int target, uint64_t number) {
    return c.path + "." + std::to_string(source) + "." + std::to_string(target) + "." +
           std::to_string(number);
}

bool post(const Comm& c, const Move& m, const void* bytes) {
    const std::string name = file(c, c.rank, m.rank, m.number), fresh = name + ".part";
    const int out = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (out < 0) return false;
    const char* from = static_cast<const char*>(bytes);
    size_t left = m.bytes;
    while (left) {
        const ssize_t n = write(out, from, left);
        if (n <= 0) break;
        from += n;
        left -= static_cast<size_t>(n);
    }
    close(out);
    return !left && !rename(fresh.c_str(), name.c_str());
}

bool there(const Comm& c, const Move& m) {
    return !access(file(c, m.rank, c.rank, m.number).c_str(), F_OK);
}

bool take(const Comm& c, const Move& m, std::vector<char>& bytes) {
    const std::string name = file(c, m.rank, c.rank, m.number);
    const int in = open(name.c_str(), O_RDONLY);
    if (in < 0) return false;
    struct stat found;
    bool whole = !fstat(in, &found) && static_cast<size_t>(found.st_size) == m.bytes;
    bytes.resize(m.bytes);
    size_t got = 0;
    while (whole && got < m.bytes) {
        const ssize_t n = read(in, bytes.data() + got, m.bytes - got);
        if (n <= 0) whole = false;
        else got += static_cast<size_t>(n);
    }
    close(in);
    unlink(name.c_str());
    return whole;
}

template <class T>
void fold(std::vector<char>& total, const std::vector<char>& more, int op) {
    T* to = reinterpret_cast<T*>(total.data());
    const T* from = reinterpret_cast<const T*>(more.data());
    for (size_t i = 0; i < total.size() / sizeof(T); ++i) {
        if (op == 0) to[i] = static_cast<T>(to[i] + from[i]);
        else if (op == 1) to[i] = static_cast<T>(to[i] * from[i]);
        else if (op == 2) to[i] = from[i] > to[i] ? from[i] : to[i];  // a NaN may get lost, as there
        else to[i] = from[i] < to[i] ? from[i] : to[i];
    }
}

using Fold = void (*)(std::vector<char>&, const std::vector<char>&, int);
constexpr Fold kFolds[] = {
    fold<int8_t>, fold<uint8_t>, fold<uint32_t>, fold<uint32_t>,  // sums go round
    fold<uint64_t>, fold<uint64_t>, fold<_Float16>, fold<float>, fold<double>,
};
constexpr Fold kOrdered[] = {
    fold<int8_t>, fold<uint8_t>, fold<int32_t>, fold<uint32_t>,
    fold<int64_t>, fold<uint64_t>, fold<_Float16>, fold<float>, fold<double>,
};
constexpr size_t kSizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8};

unsigned char* bytes_of(Address a) {
    for (Device* d : Simulator::one().devices)
        if (d->memory.inside(a)) return d->memory.bytes(a);
    return nullptr;
}

int send_all(const Comm& c, const Job& job) {
    for (const Move& m : job.posts)
        if (!post(c, m, bytes_of(m.at))) return kLaunchFailed;
    return kSuccess;
}

int take_all(const Comm& c, const Job& job) {
    if (c.aborted) return kSuccess;
    std::vector<char> total, more;
    for (const Move& m : job.takes) {
        if (!take(c, m, more)) return kLaunchFailed;
        if (!job.result) std::memcpy(bytes_of(m.at), more.data(), m.bytes);
        else if (total.empty()) total = more;
        else (job.op < 2 ? kFolds : kOrdered)[job.type](total, more, job.op);
    }
    if (!total.empty()) std::memcpy(bytes_of(job.result), total.data(), total.size());
    return kSuccess;
}

// Puts the tasks for what `job` has. With `tables` held.
uint64_t put(Simulator& s, Comm* comm, Job job, Stream* stream) {
    s.note("nccl stream=%zu posts=%zu takes=%zu", stream->number, job.posts.size(),
           job.takes.size());
    Task sends, takes;
    sends.name = takes.name = "nccl";
    for (const Access& a : job.accesses) (a.write ? takes : sends).accesses.push_back(a);
    auto all = std::make_shared<Job>(std::move(job));
    sends.run = [comm, all] { return send_all(*comm, *all); };
    takes.ready = [comm, all] {
        if (comm->aborted) return true;
        for (const Move& m : all->takes)
            if (!there(*comm, m)) return false;
        return true;
    };
    takes.run = [comm, all] { return take_all(*comm, *all); };
    s.put(stream, std::move(sends));
    comm->last = stream;
    return comm->end = s.put(stream, std::move(takes));
}

void drive(Stream* stream, uint64_t position) {
    Simulator::one().progress(stream);
    std::thread([=] {
        std::this_thread::sleep_for(kIdle);
        Simulator::one().finish(stream, position);
    }).detach();
}

}  // namespace

// A group of `size` ranks whose messages are at `path`: waits until all of them are here. Lives on
// with its tasks, to the process's end.
API sim_nccl_init(Comm** made, const char* path, int size, int rank) {
    if (size < 1 || rank < 0 || rank >= size) return kInvalidValue;
    const size_t n = static_cast<size_t>(size);
    *made = new Comm{path, rank, std::vector<uint64_t>(n, 1), std::vector<uint64_t>(n, 1)};
    std::vector<char> nothing;
    for (int r = 0; r < size; ++r)
        if (!post(**made, {r, 0, 0, 0}, nullptr)) return kInvalidValue;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    for (int r = 0; r < size; ++r) {
        while (!there(**made, {r, 0, 0, 0})) {
            if (std::chrono::steady_clock::now() > end) return kLaunchFailed;
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        if (!take(**made, {r, 0, 0, 0}, nothing)) return kLaunchFailed;
    }
    return kSuccess;
}

// Returns when what was launched is over: of itself, or as it is aborted.
API sim_nccl_end(Comm* comm, int aborts) {
    Stream* last;
    uint64_t end;
    {
        std::lock_guard<std::mutex> hold(Simulator::one().tables);
        if (aborts) comm->aborted = true;
        last = comm->last;
        end = comm->end;
    }
    if (last) Simulator::one().finish(last, end);
    return kSuccess;
}

API sim_nccl_group(int ends) {
    if (!ends) {
        ++group.depth;
        return kSuccess;
    }
    if (!group.depth) return kInvalidValue;
    if (--group.depth || !group.comm) return kSuccess;
    Stream* const stream = group.stream;
    uint64_t position;
    {
        Simulator& s = Simulator::one();
        std::lock_guard<std::mutex> hold(s.tables);
        position = put(s, group.comm, std::move(group.job), stream);
    }
    group = Group();
    drive(stream, position);
    return kSuccess;
}

// `what`: a letter for each of NCCL's calls. Where a rank neither sends nor receives, the address
// is not looked at.
API sim_nccl(Comm* comm, char what, Address from, Address to, size_t count, int type, int op,
             int other, Stream* stream) {
    uint64_t position;
    {
        ENTER(sim_nccl);
        STREAM;
        if (type < 0 || type > 8 || op < 0 || op > 3) return kInvalidValue;
        if (other < 0 || other >= comm->size()) return kInvalidValue;
        const size_t bytes = count * kSizes[type], size = static_cast<size_t>(comm->size());
        const bool mine = comm->rank == other;
        Job alone;
        Job& job = group.depth ? group.job : alone;
        if (group.depth) {
            if (group.comm && (group.comm != comm || group.stream != stream)) return kInvalidValue;
            if (!std::strchr("><", what)) return kInvalidValue;  // the one use of a group so far
            group.comm = comm;
            group.stream = stream;
        }
        auto posts = [&](int rank, size_t offset) {
            if (bytes)
                job.posts.push_back(
                    {rank, comm->posted[static_cast<size_t>(rank)]++, from + offset, bytes});
        };
        auto takes = [&](int rank, size_t offset) {
            if (bytes)
                job.takes.push_back(
                    {rank, comm->taken[static_cast<size_t>(rank)]++, to + offset, bytes});
        };
        size_t sent = bytes, received = bytes;
        job.type = type;
        job.op = op;
        switch (what) {
            case 'A':  // allReduce
            case 'G':  // allGather
                for (int r = 0; r < comm->size(); ++r) posts(r, 0);
                // From the last rank to the first: nobody may count on the order of a sum.
                for (int r = comm->size(); r--;)
                    takes(r, what == 'G' ? static_cast<size_t>(r) * bytes : 0);
                if (what == 'A') job.result = to;
                else received = bytes * size;
                break;
            case 'R':  // reduce
                posts(other, 0);
                if (mine) {
                    for (int r = comm->size(); r--;) takes(r, 0);
                    job.result = to;
                } else {
                    received = 0;
                }
                break;
            case 'S':  // reduceScatter
                for (int r = 0; r < comm->size(); ++r) posts(r, static_cast<size_t>(r) * bytes);
                for (int r = comm->size(); r--;) takes(r, 0);
                job.result = to;
                sent = bytes * size;
                break;
            case 'B':  // broadcast
                if (mine)
                    for (int r = 0; r < comm->size(); ++r) posts(r, 0);
                else
                    sent = 0;
                takes(other, 0);
                break;
            case '>':
                posts(other, 0);
                received = 0;
                break;
            case '<':
                takes(other, 0);
                sent = 0;
                break;
            default:
                return kInvalidValue;
        }
        for (auto [address, n, write] : {std::tuple{from, sent, false}, {to, received, true}}) {
            if (!n) continue;
            Device* device = s.owner(address, n);
            if (!device || device != stream->device) return kIllegalAddress;
            job.accesses.push_back(s.access(device, address, n, write));
        }
        if (group.depth) return kSuccess;
        position = put(s, comm, std::move(alone), stream);
    }
    drive(stream, position);
    return kSuccess;
}
