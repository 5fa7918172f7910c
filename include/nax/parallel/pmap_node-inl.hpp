#pragma once

#include "nax/parallel/device_threads.hpp"
#include "nax/parallel/pmap_node.hpp"
#include "nax/tape/call_node.hpp"

NAX_BEGIN
namespace detail {

// Devices then wait for an array itself, and not for each other's use of it. In the caller's thread.
inline void note_moments(const Arrays& arrays) {
  for (const ArrayBase& x : arrays) note_moment(x);
}

NAX_ENGINE std::vector<Arrays> FlatPmap::split(Arrays inputs) const {
  note_moments(inputs);
  std::vector<Arrays> each(size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t d = 0; d < size(); ++d)
      each[d].push_back(places[i].axis < 0
                            ? constant(inputs[i])
                            : take_shard(inputs[i], places[i].axis, static_cast<int>(d), places[i].donated));
  return each;
}

NAX_ENGINE void FlatPmap::check_alike(const std::vector<Arrays>& results) {
  for (std::size_t d = 1; d < results.size(); ++d) {
    if (results[d].size() != results[0].size())
      raise<ShapeError>({"pmap: results differ between devices: ", results[0].size(), " arrays on device 0, ",
                         results[d].size(), " on device ", d});
    for (std::size_t i = 0; i < results[d].size(); ++i)
      if (!(layout_of(results[d][i]).shape == layout_of(results[0][i]).shape))
        raise<ShapeError>({"pmap: results differ between devices: shape ", results[0][i].shape(),
                           " on device 0, ", results[d][i].shape(), " on device ", d});
  }
}

NAX_ENGINE Arrays FlatPmap::assemble_all(const std::vector<Arrays>& results) {
  check_alike(results);
  Arrays whole;
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    Arrays column;
    for (const Arrays& one : results) column.push_back(one[i]);
    whole.push_back(assemble(column, 0));
  }
  return whole;
}

struct PmapNode final : CallNode {
  FlatPmap pmap;
  Arrays inputs;                    // recorded handles
  std::vector<FlatRecord> records;  // one for each device
  std::vector<Levels> made;         // hidden axes of the results, leaf by leaf

  std::vector<std::size_t> watcher_marks;

  PmapNode(FlatPmap p, Arrays in, std::vector<FlatRecord> r, std::vector<Levels> levels)
      : pmap(std::move(p)), inputs(std::move(in)), records(std::move(r)), made(std::move(levels)) {
    const Tape& tape = *recording.tape;
    const Watchers all = watchers(tape);
    for (std::size_t depth = 0; depth < tape.scopes.marks.size(); ++depth)
      if (all & watcher_bit(depth)) watcher_marks.push_back(tape.scopes.marks[depth]);
  }
  Watchers watchers(const Tape& tape) const override {
    Watchers all = 0;
    for (const ArrayBase& x : inputs) all |= tape.watchers(serial_of(x));
    return all;
  }

  // The function as the transform at `mark` sees it.
  FlatRef function_at(std::size_t mark) const {
    FlatRef f = pmap.f;
    for (std::size_t watcher : watcher_marks)
      if (watcher > mark) f = std::make_shared<FlatWatched>(std::move(f));
    return f;
  }
  NAX_ENGINE_VIRTUAL void pull_call(std::vector<ArrayBase> cotangents, Reverse& sweep) override;
  Arrays pull_on_devices(const Arrays& seeds) const;

  // Pulls by a pmap of the derivative, which the outer transform sees.
  Arrays pull_recorded(const FlatRef& f, Arrays seeds) const;

  NAX_ENGINE_VIRTUAL std::vector<ArrayBase> push_call(Forward& sweep) override;
};

NAX_ENGINE void PmapNode::pull_call(std::vector<ArrayBase> cotangents, Reverse& sweep) {
  Arrays seeds;
  for (std::size_t i = 0; i < cotangents.size(); ++i) seeds.push_back(cotangents[i]);
  const FlatRef f = function_at(sweep.mark());
  Arrays shares = recording.tape || f != pmap.f ? pull_recorded(f, std::move(seeds)) : pull_on_devices(seeds);
  Levels all;
  for (const Levels& levels : made) all = merge_levels(all, levels);
  std::size_t k = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_inexact(inputs[i].dtype())) continue;
    const ArrayBase& share = shares[k++];  // the device axis first
    if (!sweep.wants(serial_of(inputs[i]))) continue;
    const LeafOperations& leaf = operations_of(share);
    const int axis = pmap.places[i].axis;
    sweep.add(serial_of(inputs[i]),
              leaf.sum_levels(axis < 0 ? leaf.sum_leading(share) : leaf.move_axis(share, 0, axis), all,
                              layout_of(inputs[i]).levels));
  }
}

NAX_ENGINE Arrays PmapNode::pull_on_devices(const Arrays& seeds) const {
  note_moments(seeds);
  std::vector<Arrays> each(pmap.size());
  for (std::size_t d = 0; d < pmap.size(); ++d)
    for (ArrayBase g : seeds)
      each[d].push_back(holds_value(g) ? take_shard(g, 0, static_cast<int>(d), false) : ArrayBase());
  std::vector<Arrays> shares(pmap.size());
  const RunOn where{pmap.devices, pmap.axis_name, pmap.everywhere};
  run_on_devices(where, [&](int rank) {
    const std::size_t d = static_cast<std::size_t>(rank);
    FlatPmap::bring(each[d]);
    shares[d] = records[d].pull(each[d]);
  });
  return FlatPmap::assemble_all(shares);
}

NAX_ENGINE Arrays PmapNode::pull_recorded(const FlatRef& f, Arrays seeds) const {
  std::size_t k = 0;
  for (const ArrayBase& out : records[0].outputs) {
    if (!is_inexact(out.dtype())) continue;
    ArrayBase& g = seeds[k++];
    if (!holds_value(g)) g = assemble(Arrays(pmap.size(), zeros_like_leaf(out)), 0);
  }
  FlatPmap derivative{std::make_shared<FlatVjp>(f, inputs.size()), pmap.devices, pmap.axis_name, pmap.places,
                      pmap.everywhere};
  Arrays all = inputs;
  for (ArrayBase& g : seeds) {
    all.push_back(std::move(g));
    derivative.places.push_back({0, false});
  }
  return derivative(std::move(all));
}

NAX_ENGINE std::vector<ArrayBase> PmapNode::push_call(Forward& sweep) {
  FlatPmap derivative{std::make_shared<FlatJvp>(function_at(sweep.mark()), inputs.size()), pmap.devices,
                      pmap.axis_name, pmap.places, pmap.everywhere};
  Arrays all = inputs;
  bool any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_inexact(inputs[i].dtype())) continue;
    const ArrayBase* t = sweep.find(serial_of(inputs[i]));
    any = any || t;
    all.push_back(t ? *t : zeros_like_leaf(inputs[i]));
    derivative.places.push_back(pmap.places[i]);
  }
  if (!any) return {};
  return derivative(std::move(all));
}

NAX_ENGINE Arrays FlatPmap::operator()(Arrays inputs) const {
  bool recorded = false;
  for (const ArrayBase& x : inputs) recorded = recorded || (is_inexact(x.dtype()) && is_recorded(x));
  std::vector<Arrays> results(size());
  if (!recorded) {
    std::vector<Arrays> each = split(std::move(inputs));
    run_on_devices({devices, axis_name, everywhere}, [&](int rank) {
      const std::size_t d = static_cast<std::size_t>(rank);
      bring(each[d]);
      results[d] = f->call(std::move(each[d]));
      for (ArrayBase& result : results[d]) result = constant(std::move(result));
    });
    return assemble_all(results);
  }

  FlatPmap kept = *this;
  for (MappedLeaf& place : kept.places) place.donated = false;
  std::vector<Arrays> each = kept.split(inputs);
  std::vector<FlatRecord> records(size());
  run_on_devices({devices, axis_name, everywhere}, [&](int rank) {
    const std::size_t d = static_cast<std::size_t>(rank);
    const TapeScope scope;
    bring(each[d]);
    records[d] = FlatRecord::make(*f, each[d], scope);
    results[d] = records[d].outputs;
  });
  Arrays whole = assemble_all(results);
  std::vector<Levels> made;
  for (const ArrayBase& out : whole) made.push_back(layout_of(out).levels);

  Tape& tape = *recording.tape;
  const std::uint64_t serial =
      tape.emplace<PmapNode>(std::move(kept), std::move(inputs), std::move(records), made);
  auto* call = static_cast<CallNode*>(&tape[tape.find(serial)]);
  std::size_t count = 0, slot = 0;
  for (const ArrayBase& out : whole) count += is_inexact(out.dtype());
  for (ArrayBase& out : whole)
    if (is_inexact(out.dtype()))
      ArrayAccess::serial(out) = operations_of(out).record_output(tape, call, serial, slot++, count);
  return whole;
}

}  // namespace detail
NAX_END
