#include "cuda/runtime/world.hpp"

// Streams and events.
using namespace stand_in;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call([&](World& w, auto&) {
    if (flags != cudaStreamNonBlocking) return cudaErrorNotSupported;
    w.contexts.insert(current);
    w.streams.insert(*stream = new CUstream_st{current, {}, nullptr, false});
    return cudaSuccess;
  });
}
// CUDA lets the stream finish; here its rest runs first.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call(
      [&](World& w, auto& lock) {
        if (!w.streams.count(stream)) return cudaErrorInvalidResourceHandle;
        if (stream->capture) stream->capture->invalid = true;
        const cudaError_t result = w.run_until(lock, [&] { return stream->queue.empty(); });
        w.streams.erase(stream);
        delete stream;
        return result;
      },
      true);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&](World& w, auto& lock) {
    if (!w.streams.count(stream)) return cudaErrorInvalidResourceHandle;
    const auto refused = w.refuse_captured([&](const CUstream_st* s) { return s == stream; });
    if (refused != cudaSuccess) return refused;
    return w.run_until(lock, [&] { return stream->queue.empty(); });
  });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call([&](World& w, auto&) {
    if (!w.streams.count(stream)) return cudaErrorInvalidResourceHandle;
    const auto refused = w.refuse_captured([&](const CUstream_st* s) { return s == stream; });
    if (refused != cudaSuccess) return refused;
    return stream->queue.empty() ? cudaSuccess : cudaErrorNotReady;
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return call([&](World& w, auto&) {
    if (!w.streams.count(stream) || !w.events.count(event)) return cudaErrorInvalidResourceHandle;
    const std::shared_ptr<Moment> moment = event->last;
    if (stream->capture) {
      Capture& capture = *stream->capture;
      if (capture.invalid) return cudaErrorStreamCaptureInvalidated;
      if (!moment || moment->capture != stream->capture) {
        capture.invalid = true;
        return moment && moment->capture ? cudaErrorStreamCaptureMerge : cudaErrorStreamCaptureIsolation;
      }
      if (stream == capture.origin) capture.away.erase(moment->stream);
      return cudaSuccess;
    }
    if (!moment) return cudaSuccess;
    if (moment->capture) {  // the stream joins
      if (moment->capture->invalid) return cudaErrorStreamCaptureInvalidated;
      stream->capture = moment->capture;
      stream->capture->away.insert(stream);
      return cudaSuccess;
    }
    stream->queue.push_back({Task::wait, {}, moment});
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&](World& w, auto&) {
    w.events.insert(*event = new CUevent_st);
    (*event)->device = current;
    (*event)->timed = (flags & cudaEventDisableTiming) == 0;
    return cudaSuccess;
  });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call(
      [&](World& w, auto&) {
        if (w.events.erase(event) == 0) return cudaErrorInvalidResourceHandle;
        delete event;
        return cudaSuccess;
      },
      true);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&](World& w, auto&) {
    if (!w.streams.count(stream) || !w.events.count(event) || stream->device != event->device)
      return cudaErrorInvalidResourceHandle;
    if (stream->capture && stream->capture->invalid) return cudaErrorStreamCaptureInvalidated;
    event->last = std::make_shared<Moment>(Moment{false, stream->capture, stream, 0});
    if (!stream->capture) stream->queue.push_back({Task::record, {}, event->last});
    return cudaSuccess;
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&](World& w, auto& lock) {
    if (!w.events.count(event)) return cudaErrorInvalidResourceHandle;
    const std::shared_ptr<Moment> moment = event->last;
    if (!moment) return cudaSuccess;
    if (moment->capture) {
      moment->capture->invalid = true;
      return cudaErrorCapturedEvent;
    }
    return w.run_until(lock, [&] { return moment->passed; });
  });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&](World& w, auto&) {
    if (!w.events.count(event)) return cudaErrorInvalidResourceHandle;
    if (!event->last) return cudaSuccess;
    if (event->last->capture) {
      event->last->capture->invalid = true;
      return cudaErrorCapturedEvent;
    }
    return event->last->passed ? cudaSuccess : cudaErrorNotReady;
  });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return call([&](World& w, auto&) {
    for (const cudaEvent_t event : {begin, end}) {
      if (!w.events.count(event) || !event->timed || !event->last || event->last->capture)
        return cudaErrorInvalidResourceHandle;
      if (!event->last->passed) return cudaErrorNotReady;
    }
    *milliseconds = 0.25f * static_cast<float>(end->last->time - begin->last->time);
    return cudaSuccess;
  });
}
}
