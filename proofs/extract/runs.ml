(* Runs with a flow, of certificates of the kinds lower and violation, written out for the checker: as many further rounds of each cycle as the flow asks for, the
   comparisons along which it goes, and samples with which the run is possible.  None of this is trusted: the checker judges the run. *)

open Checker
open Reading

let most_steps = 4000
(* So many rounds before those without bound, until what is stored is the same after each. *)
let settling = 2

(* ---- Small rationals; larger ones are given up ---- *)

type small = int * int
let rec gcd a b = if b = 0 then abs a else gcd b (a mod b)
let ratio a b : small =
  let g = gcd a b in
  let g = if b < 0 then - g else g in
  let a, b = a / g, b / g in
  if abs a > 1 lsl 30 || b > 1 lsl 30 then not_proved "numbers that are too large to write the run out" else a, b
let ( +: ) (a, b) (c, d) = ratio (a * d + c * b) (b * d)
let neg (a, b) : small = - a, b
let ( -: ) x y = x +: neg y
let ( *: ) (a, b) (c, d) = ratio (a * c) (b * d)
let nought : small = 0, 1
let sign (a, _) = compare a 0
let floor_of (a, b) = if a >= 0 then a / b else - ((- a + b - 1) / b)
let ceil_of x = - floor_of (neg x)
let rec int_of_positive = function
  | XH -> 1
  | XO p | XI p as q ->
      let n = 2 * int_of_positive p + (match q with XI _ -> 1 | _ -> 0) in
      if n > 1 lsl 30 then not_proved "numbers that are too large to write the run out" else n
let of_q q = ratio (match q.qnum with Z0 -> 0 | Zpos p -> int_of_positive p | Zneg p -> - (int_of_positive p)) (int_of_positive q.qden)
let to_q (a, b) =
  { qnum = (if a = 0 then Z0 else if a > 0 then Zpos (Reading.positive a) else Zneg (Reading.positive (- a))); qden = Reading.positive b }

(* ---- Ends of comparisons: samples, perhaps negative, second ones, and the ground ---- *)

type ends = Sample of int * bool | Second of int | Ground
let negated = function Sample (p, m) -> Sample (p, not m) | e -> e

type flow = { low_end : ends; high_end : ends; amount : small; repeated : bool }

let end_of where size j = match j with
  | Json.Int n when 0 <= n && n < size -> Sample (n, false)
  | Json.Text "ground" -> Ground
  | Json.Text s ->
      let n = String.length s in
      let number from k = match int_of_string_opt ("0u" ^ String.sub s from k) with
        | Some v when v < size -> v
        | _ -> refuse "%s is no position of the run" where in
      if n > 1 && s.[0] = '-' then Sample (number 1 (n - 1), true)
      else if n > 1 && s.[n - 1] = '\'' then Second (number 0 (n - 1))
      else refuse "%s is no position of the run" where
  | _ -> refuse "%s is no position of the run" where

let position = function Sample (p, _) | Second p -> Some p | Ground -> None

(* [l] are the members of the certificate; [growing]: no sample may use anything of its capacity. *)
let written (a : Automata.t) claim where growing l =
  let states = Array.of_list a.automaton.states and transitions = Array.of_list a.automaton.transitions in
  let run = Array.of_list (List.map (number (where ^ ".run") (Array.length transitions)) (items (where ^ ".run") (List.assoc "run" l))) in
  let size = Array.length run in
  let trans p = transitions.(run.(p)) in
  let state p = states.((trans p).src) in
  let cycles = optional "cycles" l (fun v -> List.map (fun c -> match items where c with
    | [ i; k ] -> number where size i, number where (size + 1) k
    | _ -> refuse "%s has a cycle that is no range" where) (items where v)) [] in
  let differences = Array.of_list (List.map (fun q -> of_q (rational where q)) (items where (List.assoc "differences" l))) in
  if Array.length differences <> size then refuse "%s has not a difference for each position" where;
  let flows = List.map (fun f ->
    let m = members where [ "from"; "to"; "amount" ] [ "repeated" ] f in
    { low_end = end_of where size (List.assoc "from" m); high_end = end_of where size (List.assoc "to" m);
      amount = of_q (rational where (List.assoc "amount" m)); repeated = optional "repeated" m (truth where) false })
    (items where (List.assoc "flow" l)) in
  let claim : claim = claim in
  let least = of_q claim.c_sens *: of_q claim.c_low and largest = of_q claim.c_sens *: of_q claim.c_high in
  let least, largest = if a.integer then (ceil_of least, 1), (floor_of largest, 1) else least, largest in
  (* The cycle of which the ends of a repeated flow are copies: that of the later one. *)
  let cycle_of f =
    let ps = List.sort (fun p q -> compare q p) (List.filter_map position [ f.low_end; f.high_end ]) in
    match List.concat_map (fun p -> List.filter (fun (i, k) -> i <= p && p < k) cycles) ps with
    | c :: _ -> c
    | [] -> refuse "%s repeats flow that is on no cycle" where in
  let on (i, k) e = match position e with Some p -> i <= p && p < k | None -> false in
  (* What copies absorb, all together. *)
  let absorbed = Hashtbl.create 97 in
  let absorb e x = match e with
    | Sample (p, m) -> Hashtbl.replace absorbed (p, false) (Option.value (Hashtbl.find_opt absorbed (p, false)) ~default:nought +: (if m then neg x else x))
    | Second p -> Hashtbl.replace absorbed (p, true) (Option.value (Hashtbl.find_opt absorbed (p, true)) ~default:nought +: x)
    | Ground -> () in
  let repeated = List.filter (fun f -> f.repeated) flows in
  if growing && List.length (List.sort_uniq compare (List.map cycle_of repeated)) > 1 then
    not_proved "a flow without bound through two cycles";
  List.iter (fun f ->
    let c = cycle_of f in
    if on c f.low_end then absorb f.low_end (neg f.amount);
    if on c f.high_end then absorb f.high_end f.amount) repeated;
  let rounds c =
    if not (List.exists (fun f -> cycle_of f = c) repeated) then 0
    else if growing then settling + 1
    else Hashtbl.fold (fun (p, second) x n ->
      if not (on c (Sample (p, false))) then n
      else
        let s = state p in
        let law, d = if second then s.law_of', of_q s.d' else s.law_of, of_q s.d in
        if law = Exact || sign d <= 0 then n else max n (ceil_of ((if sign x < 0 then neg x else x) *: (let a, b = d in ratio b a))))
      absorbed 1 in
  let rounds = List.map (fun c -> c, rounds c) cycles in
  let written = List.fold_left (fun n ((i, k), m) -> n + m * (k - i)) size rounds in
  if written > most_steps then not_proved "runs with more than %d steps" most_steps;
  (* The run written out: further rounds of a cycle come before the one that is there. *)
  let out_ = ref [] and at = ref 0 in
  let original = Array.make size 0 and copies = Hashtbl.create 97 in
  let step p copy = out_ := (p, copy) :: !out_; incr at; !at - 1 in
  for p = 0 to size - 1 do
    List.iter (fun ((i, k), m) -> if i = p then
      for r = 0 to m - 1 do
        for q = i to k - 1 do Hashtbl.add copies ((i, k), r, q) (step q true) done
      done) rounds;
    original.(p) <- step p false
  done;
  let long = Array.of_list (List.rev !out_) in
  let count = Array.length long in
  let difference w =
    let p, copy = long.(w) in
    if not (state p).reads then nought
    else if copy && not a.unfolds then
      match sign (Option.value (Hashtbl.find_opt absorbed (p, false)) ~default:nought +: Option.value (Hashtbl.find_opt absorbed (p, true)) ~default:nought) with
      | 0 -> nought | s when s > 0 -> largest | _ -> least
    else differences.(p) in
  let placed f where_ = let put = function
    | Sample (p, m) -> Sample (where_ p, m) | Second p -> Second (where_ p) | Ground -> Ground in
    put f.low_end, put f.high_end in
  let plain = List.filter_map (fun f -> if f.repeated then None else
    let x, y = placed f (fun p -> original.(p)) in Some (x, y, f.amount)) flows in
  let again = List.concat_map (fun f ->
    let c = cycle_of f in
    let m = List.assoc c rounds in
    List.map (fun r ->
      let x, y = placed f (fun p -> if on c (Sample (p, false)) then Hashtbl.find copies (c, r, p) else original.(p)) in
      x, y, if growing then f.amount else f.amount *: (1, m))
      (if growing then [ settling ] else List.init m Fun.id)) repeated in
  (* What each step compares, ties together and stores. *)
  let store = Hashtbl.create 97 and arcs = Hashtbl.create 97 and compared = ref [] in
  let atoms_of = Array.map (fun (p, _) -> Array.of_list (atoms (trans p))) long in
  let items_of = Array.map (fun (p, _) -> Array.of_list (trans p).out) long in
  let add_arc low high slot = if not (Hashtbl.mem arcs (low, high)) then Hashtbl.add arcs (low, high) slot in
  for w = 0 to count - 1 do
    let t = trans (fst long.(w)) in
    let resolved v =
      let e, c = match v.whence with
        | Zero -> Ground, nought
        | Insample -> Sample (w, false), nought
        | Held x -> (match Hashtbl.find_opt store x with Some found -> found | None -> Ground, nought) in
      if v.negative then negated e, neg c +: of_q v.plus else e, c +: of_q v.plus in
    Array.iteri (fun k b ->
      let (low, c), (high, d) = resolved b.low, resolved b.high in
      compared := (low, c, high, d, b.strict) :: !compared;
      add_arc low high (w, `Atom k, 1);
      add_arc (negated high) (negated low) (w, `Atom k, 1)) atoms_of.(w);
    Array.iteri (fun k -> function
      | Number (u, v) ->
          let (low, _), (high, _) = resolved u, resolved v in
          List.iter (fun (x, y, s) -> add_arc x y (w, `Item k, s))
            [ low, high, 1; high, low, -1; negated high, negated low, 1; negated low, negated high, -1 ]
      | Other -> add_arc (Second w) Ground (w, `Item k, 1); add_arc Ground (Second w) (w, `Item k, -1)
      | Sym _ -> ()) items_of.(w);
    let kept = List.map (fun x -> x, (Sample (w, false), nought)) t.asg @ List.map (fun (x, v) -> x, resolved v) t.copies in
    List.iter (fun (x, e) -> Hashtbl.replace store x e) kept
  done;
  let weights = Array.map (fun l -> Array.make (Array.length l) nought) atoms_of in
  let pulls = Array.map (fun l -> Array.make (Array.length l) nought) items_of in
  List.iter (fun (low, high, x) ->
    match Hashtbl.find_opt arcs (low, high) with
    | Some (w, `Atom k, _) -> weights.(w).(k) <- weights.(w).(k) +: x
    | Some (w, `Item k, s) -> pulls.(w).(k) <- pulls.(w).(k) +: (if s < 0 then neg x else x)
    | None -> not_proved "flow along what the run, written out, does not compare") (plain @ again);
  (* In the paper's automata insampleprime takes all that it can. *)
  if a.plain && not growing then Array.iteri (fun w l -> Array.iteri (fun k it ->
    if it = Other then begin
      let d = of_q (state (fst long.(w))).d' in
      pulls.(w).(k) <- (match sign (difference w) with 0 -> nought | s when s > 0 -> neg d | _ -> d)
    end) l) items_of;
  (* ---- Samples: whole numbers above what they are around, by shortest paths ---- *)
  let summed = List.exists (fun s -> s.factors <> []) a.automaton.states in
  (* Rounds without bound are all alike. *)
  let twin w = match long.(w) with
    | q, true when growing -> Hashtbl.find copies (List.find (fun (i, k) -> i <= q && q < k) cycles, 0, q)
    | _ -> w in
  let free w = let s = state (fst long.(w)) in s.reads && not summed in
  let base w = of_q (state (fst long.(w))).mu in
  let turned = List.exists (fun (x, _, y, _, _) -> match x, y with Sample (_, true), _ | _, Sample (_, true) -> true | _ -> false) !compared in
  let node m = function Sample (w, n) -> 2 * twin w + (if n <> m then 1 else 0) | _ -> 2 * count in
  let based = function Sample (w, m) -> if m then neg (base w) else base w | _ -> nought in
  let limits = ref [] in
  let limit low c high d strict =
    let g = d +: based high -: c -: based low in
    let g = if strict then ceil_of g - 1 else floor_of g in
    let g = if turned then floor_of (g, 2) else g in
    limits := (node false high, node false low, g) :: !limits;
    if turned then limits := (node true low, node true high, g) :: !limits in
  List.iter (fun (x, c, y, d, strict) -> limit x c y d strict) !compared;
  for w = 0 to count - 1 do
    let s = state (fst long.(w)) in
    let close = s.law_of = Exact || sign (of_q s.d) <= 0 in
    if not (free w) && not (s.reads) then begin
      if close || s.law_of = Exponential then limit Ground (base w) (Sample (w, false)) nought false;
      if close then limit (Sample (w, false)) nought Ground (base w) false
    end
  done;
  let far = Array.make (2 * count + 1) 0 in
  let changed = ref true and passes = ref 0 in
  while !changed do
    changed := false;
    incr passes;
    if !passes > 2 * count + 2 then not_proved "runs whose samples are not found";
    List.iter (fun (x, y, g) -> if far.(x) + g < far.(y) then (far.(y) <- far.(x) + g; changed := true)) !limits
  done;
  let ground = far.(2 * count) in
  let whole w = let w = twin w in if turned then far.(2 * w) - far.(2 * w + 1) else far.(2 * w) - ground in
  (* ---- Entries, so that means are near the samples ---- *)
  let registers = Hashtbl.create 17 in
  let held r = Option.value (Hashtbl.find_opt registers r) ~default:nought in
  let steps = List.init count (fun w ->
    let p, _ = long.(w) in
    let s = state p and t = trans p in
    let sum = List.fold_left (fun m (r, f) -> m +: (of_q f *: held r)) nought s.factors in
    let z = base w +: (whole w, 1) in
    let close = s.law_of <> Laplace || sign (of_q s.d) <= 0 in
    let entry = if s.reads && (free w || close) then z -: of_q s.mu -: sum else nought in
    let z = if s.reads then z else z +: sum in
    let fresh = List.map (fun (r, u) ->
      r, (match u.from with Some y -> held y | None -> nought) +: (if u.adds then entry else nought)) t.sets in
    List.iter (fun (r, x) -> Hashtbl.replace registers r x) fresh;
    { taken = run.(p); entry_at = to_q entry; more = to_q (neg (difference w)); drawn = to_q z;
      drawn' = to_q (entry +: sum +: of_q s.mu'); weights = List.map to_q (Array.to_list weights.(w));
      pulls = List.map to_q (Array.to_list pulls.(w)) }) in
  match if growing then repeated else [] with
  | [] -> `Once { r_claim = claim; r_run = steps; r_hints = a.hints }
  | f :: _ ->
      let (i, k) as c = cycle_of f in
      let from = Hashtbl.find copies (c, settling, i) in
      let part p = List.filteri (fun w _ -> p w) steps in
      `In_rounds { g_claim = claim; g_before = part (fun w -> w < from);
        g_round = part (fun w -> from <= w && w < from + k - i); g_after = part (fun w -> from + k - i <= w); g_hints = a.hints }

let bounds = [ "adjacency"; "sensitivity" ] and flow = [ "run"; "differences"; "flow" ]
let claim where l d : claim =
  let low, high = interval where (List.assoc "adjacency" l) in
  { c_low = low; c_high = high; c_sens = rational where (List.assoc "sensitivity" l); c_D = d }

let lower a where j =
  let l = members where ([ "kind"; "D" ] @ bounds @ flow) [ "cycles"; "others" ] j in
  if List.mem_assoc "others" l then not_proved "bounds by all runs that show the same";
  written a (claim where l (rational where (List.assoc "D" l))) where false l
let growth a where j =
  let l = members where ([ "kind"; "pattern" ] @ bounds @ flow) [ "cycles" ] j in
  written a (claim where l zero) where true l
