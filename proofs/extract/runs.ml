(* Runs with a flow, of certificates of the kinds lower and violation, written out for the checker: further rounds of each cycle where the flow asks for them, the
   comparisons along which it goes, and samples with which the run is possible, however many rounds there are.  None of this is trusted: the checker judges the run. *)

open Checker
open Reading

(* Longer ones are given up: whoever made the certificate may have meant it. *)
let most_steps = 200_000
let most_watched = 8

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

(* ---- A run and its flow ---- *)

(* A cycle that is repeated: where it is in the run, and how many rounds of it are one part that is repeated as a whole. *)
type cycle = { first : int; behind_it : int; together : int }
let on c p = c.first <= p && p < c.behind_it

type request = {
  taken_ : int array; cycles : cycle list; differences : small array; flows : flow list;
  crossing : bool     (* the flow is not given: it goes from one round to another, or within one *)
}

let last_of f = List.fold_left max (-1) (List.filter_map position [ f.low_end; f.high_end ])
(* The cycle of which the ends of a repeated flow are copies: that of the later one. *)
let cycle_of where r f = match List.find_opt (fun c -> on c (last_of f)) r.cycles with
  | Some c -> c
  | None -> refuse "%s repeats flow that is on no cycle" where

(* ---- The run, written out: steps of the run, of which some are there again ---- *)

(* A step is that of the run, or one in a round before: in one that is there once, or in the part that is repeated. *)
type copy = Itself | Extra of int | Again of int * int

(* [before] and [after] the part that is repeated there are so many such parts that are not; of it there are [rounds]. *)
let layout r repeats before after rounds =
  let out = ref [] and count = ref 0 in
  let put p c = out := (p, c) :: !out; incr count in
  let size = Array.length r.taken_ in
  for p = 0 to size - 1 do
    List.iter (fun c -> if c.first = p && repeats c then begin
      let part f = for i = 0 to c.together - 1 do for q = c.first to c.behind_it - 1 do put q (f i) done done in
      for i = 0 to before - 1 do part (fun _ -> Extra i) done;
      for j = 0 to rounds - 1 do part (fun i -> Again (j, i)) done;
      for i = 0 to after - 1 do part (fun _ -> Extra (before + i)) done
    end) r.cycles;
    if !count > most_steps then not_proved "runs with more than %d steps" most_steps;
    put p Itself
  done;
  Array.of_list (List.rev !out)

type found = {
  compared : (ends * small * ends * small * bool) list;      (* low + constant, high + constant, strict *)
  arcs : (ends * ends, int * [ `Atom of int | `Item of int ] * int) Hashtbl.t    (* where it is compared, or shown *)
}

(* What each step compares, ties together and stores. *)
let traced trans long =
  let store = Hashtbl.create 97 and arcs = Hashtbl.create 97 and compared = ref [] in
  let add_arc low high slot = if not (Hashtbl.mem arcs (low, high)) then Hashtbl.add arcs (low, high) slot in
  Array.iteri (fun w (p, _) ->
    let t = trans p in
    let resolved v =
      let e, c = match v.whence with
        | Zero -> Ground, nought
        | Insample -> Sample (w, false), nought
        | Held x -> (match Hashtbl.find_opt store x with Some found -> found | None -> Ground, nought) in
      if v.negative then negated e, neg c +: of_q v.plus else e, c +: of_q v.plus in
    List.iteri (fun k b ->
      let (low, c), (high, d) = resolved b.low, resolved b.high in
      compared := (low, c, high, d, b.strict) :: !compared;
      add_arc low high (w, `Atom k, 1);
      add_arc (negated high) (negated low) (w, `Atom k, 1)) (atoms t);
    List.iteri (fun k -> function
      | Number (u, v) ->
          let (low, _), (high, _) = resolved u, resolved v in
          List.iter (fun (x, y, s) -> add_arc x y (w, `Item k, s))
            [ low, high, 1; high, low, -1; negated high, negated low, 1; negated low, negated high, -1 ]
      | Other -> add_arc (Second w) Ground (w, `Item k, 1); add_arc Ground (Second w) (w, `Item k, -1)
      | Sym _ -> ()) t.out;
    let kept = List.map (fun x -> x, (Sample (w, false), nought)) t.asg @ List.map (fun (x, v) -> x, resolved v) t.copies in
    List.iter (fun (x, e) -> Hashtbl.replace store x e) kept) long;
  { compared = List.rev !compared; arcs }

(* ---- Samples: so many small steps above what they are around, by shortest paths ---- *)

exception Circle

(* [twin] has steps that are to have the same samples; [steps] make 1; [integers]: noise and inputs are such, else real numbers. *)
let samples state summed integers steps long twin compared =
  let count = Array.length long in
  let free w = let s = state (fst long.(w)) in s.reads && not summed in
  let base w = of_q (state (fst long.(w))).mu in
  let turned = List.exists (fun (x, _, y, _, _) -> match x, y with Sample (_, true), _ | _, Sample (_, true) -> true | _ -> false) compared in
  let node m = function Sample (w, n) -> 2 * twin w + (if n <> m then 1 else 0) | _ -> 2 * count in
  let based = function Sample (w, m) -> if m then neg (base w) else base w | _ -> nought in
  (* The second is at most the first and so much. *)
  let above = Array.make (2 * count + 1) [] in
  let close w = let s = state (fst long.(w)) in s.law_of = Exact || sign (of_q s.d) <= 0 in
  let certain = function Sample (w, _) -> close w | _ -> true in
  let limit low c high d strict =
    (* Noise on real numbers has no single values: what is compared differs, unless it is one sample or has no noise. *)
    let strict = strict || not integers && node false low <> node false high && not (certain low && certain high) in
    let g = (d +: based high -: c -: based low) *: (steps, 1) in
    let g = if strict then ceil_of g - 1 else floor_of g in
    let g = if turned then floor_of (g, 2) else g in
    let add x y = above.(x) <- (y, g) :: above.(x) in
    add (node false high) (node false low);
    if turned then add (node true low) (node true high) in
  List.iter (fun (x, c, y, d, strict) -> limit x c y d strict) compared;
  for w = 0 to count - 1 do
    let s = state (fst long.(w)) in
    if not (free w) && not s.reads then begin
      if close w || s.law_of = Exponential then limit Ground (base w) (Sample (w, false)) nought false;
      if close w then limit (Sample (w, false)) nought Ground (base w) false
    end
  done;
  let far = Array.make (2 * count + 1) 0 and length = Array.make (2 * count + 1) 0 and waits = Array.make (2 * count + 1) true in
  let queue = Queue.create () in
  for x = 2 * count downto 0 do Queue.add x queue done;
  while not (Queue.is_empty queue) do
    let x = Queue.pop queue in
    waits.(x) <- false;
    List.iter (fun (y, g) -> if far.(x) + g < far.(y) then begin
      far.(y) <- far.(x) + g;
      length.(y) <- length.(x) + 1;
      if length.(y) > 2 * count + 1 then raise Circle;
      if not waits.(y) then (waits.(y) <- true; Queue.add y queue)
    end) above.(x)
  done;
  let ground = far.(2 * count) in
  Array.init count (fun w -> let w = twin w in if turned then far.(2 * w) - far.(2 * w + 1) else far.(2 * w) - ground)

(* ---- Writing it out ---- *)

let nothing : slopes_of = { of_entry = zero; of_drawn = zero; of_drawn' = zero }

(* [growing]: no sample may use anything of its capacity; [integers]: noise and inputs are such, else real numbers. *)
let written (a : Automata.t) (claim : claim) where growing r integers =
  let states = Array.of_list a.automaton.states and transitions = Array.of_list a.automaton.transitions in
  let trans p = transitions.(r.taken_.(p)) in
  let state p = states.((trans p).src) in
  let least = of_q claim.c_sens *: of_q claim.c_low and largest = of_q claim.c_sens *: of_q claim.c_high in
  let least, largest = if integers then (ceil_of least, 1), (floor_of largest, 1) else least, largest in
  let repeated = List.filter (fun f -> f.repeated) r.flows in
  let repeats c = r.crossing || List.exists (fun f -> cycle_of where r f == c) repeated in
  let summed = List.exists (fun s -> s.factors <> []) a.automaton.states in
  (* Numbers of the steps if all rounds are alike; or else they grow evenly from round to round, which shows in a few rounds. *)
  let find steps =
    let samples = samples state summed integers steps in
    let alike () =
      let long = layout r repeats 2 0 1 in
      let places = Hashtbl.create 97 in
      let twin = Array.mapi (fun w (p, c) -> match c with
        | Itself -> w
        | _ ->
            let c0 = List.find (fun c -> on c p) r.cycles in
            let key = p, (let n = Option.value (Hashtbl.find_opt places (p, -1)) ~default:0 in
                          Hashtbl.replace places (p, -1) (n + 1); n mod c0.together) in
            if Hashtbl.mem places key then Hashtbl.find places key else (Hashtbl.add places key w; w)) long in
      let heights = samples long (fun w -> twin.(w)) (traced trans long).compared in
      long, [||], [||], heights in
    let evenly () =
      let before = 3 and after = 2 in
      let found rounds =
        let long = layout r repeats before after rounds in
        let heights = samples long Fun.id (traced trans long).compared in
        let times = Hashtbl.create 97 and seen = Hashtbl.create 97 in
        Array.iteri (fun w (p, c) ->
          let n = Option.value (Hashtbl.find_opt times (p, c)) ~default:0 in
          Hashtbl.replace times (p, c) (n + 1);
          Hashtbl.replace seen (p, c, n) heights.(w)) long;
        fun key -> Hashtbl.find seen key in
      let three = found 3 and four = found 4 in
      let long = layout r repeats before after 1 in
      let times = Hashtbl.create 97 in
      let lines = Array.map (fun (p, c) ->
        let n = Option.value (Hashtbl.find_opt times (p, c)) ~default:0 in
        Hashtbl.replace times (p, c) (n + 1);
        let x3 = three (p, c, n) in
        let ahead = four (p, c, n) - x3 in
        let behind = match c with Again (_, i) -> three (p, Again (1, i), n) - x3 + ahead | _ -> ahead in
        x3 - 3 * ahead, ahead, behind) long in
      let part f = Array.map f lines in
      long, part (fun (_, x, _) -> x), part (fun (_, _, x) -> x), part (fun (x, _, _) -> x) in
    match alike () with
    | found -> Some (steps, found)
    | exception Circle -> (match evenly () with found -> Some (steps, found) | exception Circle -> None) in
  (* Small steps are those that leave room for all samples between two constants. *)
  let unit =
    let constants = List.concat_map (fun t -> List.map (fun v -> v.plus)
      (List.concat_map (fun b -> [ b.low; b.high ]) t.others @ List.map snd t.copies)) a.automaton.transitions in
    let means = List.map (fun s -> s.mu) a.automaton.states in
    List.fold_left (fun m q -> let d = snd (of_q q) in if m > 1 lsl 20 then m else m / gcd m d * d) 1 (constants @ means) in
  let small = if integers then [ 1 ] else [ 1; 2 * unit; 4 * unit * (1 + 3 * Array.length (layout r repeats 2 0 1)) ] in
  let steps, (long, ahead, behind, heights) = match List.find_map find small with
    | Some found -> found
    | None -> not_proved "runs whose samples are not found" in
  let count = Array.length long in
  let arcs = (traced trans long).arcs in
  let is_again w = match snd long.(w) with Again _ -> true | _ -> false in
  (* Where steps of the run are, and those of the part that is repeated. *)
  let original = Array.make (Array.length r.taken_) 0 and copies = Hashtbl.create 97 in
  Array.iteri (fun w (p, c) -> match c with
    | Itself -> original.(p) <- w
    | Again (_, 0) -> Hashtbl.replace copies p w
    | _ -> ()) long;
  let placed where_ = function Sample (p, m) -> Sample (where_ p, m) | Second p -> Second (where_ p) | Ground -> Ground in
  (* What a sample in such a part can gain, if it absorbs so much. *)
  let gain x e = match e with
    | Sample (w, m) when is_again w ->
        let x = if m then neg x else x in
        if not (state (fst long.(w))).reads then nought else if sign x > 0 then x *: largest else x *: least
    | _ -> nought in
  let crossing () =
    let on_both = Hashtbl.fold (fun (low, high) slot found -> match low, high with
      | Sample (v, _), Sample (w, _) when v <> w && is_again v && is_again w && fst long.(v) >= 0 ->
          let worth = gain (-1, 1) low +: gain (1, 1) high in
          if sign worth > 0 then (slot, low, high) :: found else found
      | _ -> found) arcs [] in
    match List.sort compare on_both with
    | (_, low, high) :: _ -> [ low, high, (1, 1) ]
    | [] -> not_proved "a leaking cycle that compares no two samples of which one can gain" in
  let flows = if r.crossing then crossing () else List.map (fun f ->
    let where_ = if f.repeated then (let c = cycle_of where r f in fun p -> if on c p then Hashtbl.find copies p else original.(p))
      else fun p -> original.(p) in
    placed where_ f.low_end, placed where_ f.high_end, f.amount) r.flows in
  let weights = Array.map (fun (p, _) -> Array.make (List.length (atoms (trans p))) nought) long in
  let pulls = Array.map (fun (p, _) -> Array.make (List.length (trans p).out) nought) long in
  (* What the samples of those parts absorb, all together. *)
  let absorbed = Hashtbl.create 97 in
  let absorb e x = match e with
    | Sample (w, m) -> Hashtbl.replace absorbed w (Option.value (Hashtbl.find_opt absorbed w) ~default:nought +: (if m then neg x else x))
    | Second w -> Hashtbl.replace absorbed w (Option.value (Hashtbl.find_opt absorbed w) ~default:nought +: x)
    | Ground -> () in
  List.iter (fun (low, high, x) ->
    absorb low (neg x);
    absorb high x;
    match Hashtbl.find_opt arcs (low, high) with
    | Some (w, `Atom k, _) -> weights.(w).(k) <- weights.(w).(k) +: x
    | Some (w, `Item k, s) -> pulls.(w).(k) <- pulls.(w).(k) +: (if s < 0 then neg x else x)
    | None -> not_proved "flow along what the run, written out, does not compare") flows;
  let difference w =
    let p, copy = long.(w) in
    if not (state p).reads then nought
    else if copy <> Itself && not a.unfolds then
      (if not (is_again w) then nought else
       match sign (Option.value (Hashtbl.find_opt absorbed w) ~default:nought) with 0 -> nought | s when s > 0 -> largest | _ -> least)
    else r.differences.(p) in
  (* In the paper's automata insampleprime takes all that it can. *)
  if a.plain && not growing then Array.iteri (fun w (p, _) -> List.iteri (fun k it ->
    if it = Other && not (is_again w) then begin
      let d = of_q (state p).d' in
      pulls.(w).(k) <- (match sign (difference w) with 0 -> nought | s when s > 0 -> neg d | _ -> d)
    end) (trans p).out) long;
  (* ---- Entries, so that means are near the samples; how registers and what is stored grow from round to round ---- *)
  let parts =      (* from, up to, is it repeated *)
    let rec cut i = if i >= count then [] else
      let k = ref i in
      while !k < count && is_again !k = is_again i do incr k done;
      (i, !k, is_again i) :: cut !k in
    (* two cycles that are repeated never touch: the run itself is between *)
    cut 0 in
  let free w = let s = state (fst long.(w)) in s.reads && not summed in
  let numbers w base height held =
    let p, _ = long.(w) in
    let s = state p in
    let add q = if base then of_q q else nought in
    let sum = List.fold_left (fun m (x, f) -> m +: (of_q f *: held x)) nought s.factors in
    let close = s.law_of <> Laplace || sign (of_q s.d) <= 0 in
    let z = add s.mu +: ratio height steps in
    let entry = if s.reads && (free w || close) then z -: add s.mu -: sum else nought in
    let z = if s.reads then z else z +: sum in
    { of_entry = to_q entry; of_drawn = to_q z; of_drawn' = to_q (entry +: sum +: add s.mu') } in
  let v = by_trees (grow a.automaton a.hints) in
  let loosened = loose v in
  let held l x = of_q (getQ l x) in
  let zeros = Array.make count 0 in
  let ahead, behind, even = if ahead = [||] then zeros, zeros, true else ahead, behind, false in
  (* The steps of a part with numbers that fit to what registers hold. *)
  let through view base heights (i, k, _) q s regs =
    let q = ref q and s = ref s and regs = ref regs in
    let steps = List.init (k - i) (fun d ->
      let w = i + d in
      let x = numbers w base heights.(w) (held !regs) in
      let c = { taken = r.taken_.(fst long.(w)); entry_at = x.of_entry; more = to_q (neg (difference w)); drawn = x.of_drawn; drawn' = x.of_drawn';
                weights = List.map to_q (Array.to_list weights.(w)); pulls = List.map to_q (Array.to_list pulls.(w)) } in
      let (q', s'), r' = advance view [ c ] !q !s !regs in
      q := q'; s := s'; regs := r';
      c, x) in
    steps, !q, !s, !regs in
  let settled keys t s s1 = List.filter_map (fun x ->
    let g = held t x -: held s x +: held s1 x in
    if g = held s1 x then None else Some (x, to_q g)) (List.sort_uniq compare keys) in
  let rec segments parts q s regs s1 regs1 = match parts with
    | [] -> []
    | (i, k, again) as part :: rest ->
        let steps, q', s', regs' = through v true heights part q s regs in
        let slopes, _, s1', regs1' = if even && regs1 = [] then List.map (fun _ -> (), nothing) steps, q', [], []
          else let l, q, s, r = through loosened false ahead part q s1 regs1 in List.map (fun (_, x) -> (), x) l, q, s, r in
        let run = List.map fst steps in
        if not again then
          { again; drift = []; drift_r = [];
            steps = List.map2 (fun c (_, x) -> { base = c; ahead = x; behind = x }) run slopes } :: segments rest q' s' regs' s1' regs1'
        else begin
          let drift = settled (stored_in v run) s' s s1 and drift_r = settled (set_in v run) regs' regs regs1 in
          let s2 = shifted_by drift s1 and regs2 = shifted_by drift_r regs1 in
          let others = if even && drift_r = [] && regs1 = [] then List.map (fun _ -> nothing) run
            else let l, _, _, _ = through loosened false behind part q s2 regs2 in List.map snd l in
          { again; drift; drift_r;
            steps = List.map2 (fun (c, (_, x)) y -> { base = c; ahead = x; behind = y }) (List.combine run slopes) others } :: segments rest q s regs s2 regs2
        end in
  let written_out = segments parts a.automaton.initial [] [] [] [] in
  (* The order of values is looked at only where states alone do not tell other paths apart, and of a few. *)
  let compared = List.sort_uniq compare (List.concat_map (fun t ->
    List.concat_map (fun b -> List.filter_map (fun v -> match v.whence with Held x -> Some (Held x) | _ -> None) [ b.low; b.high ]) (atoms t))
    a.automaton.transitions) in
  let alone watched = alone_in v watched written_out ((a.automaton.initial, []), []) in
  let watched = if alone [] || List.length compared > most_watched then [] else Zero :: compared in
  { r_claim = claim; r_run = written_out; r_watched = watched; r_hints = a.hints }

(* ---- Certificates ---- *)

let bounds = [ "adjacency"; "sensitivity" ] and flow = [ "run"; "differences"; "flow" ]
let claim where l d : claim =
  let low, high = interval where (List.assoc "adjacency" l) in
  { c_low = low; c_high = high; c_sens = rational where (List.assoc "sensitivity" l); c_D = d }

let run_of (a : Automata.t) where l =
  Array.of_list (List.map (number (where ^ ".run") (List.length a.automaton.transitions)) (items (where ^ ".run") (List.assoc "run" l)))
let cycles_of where size together v =
  List.map (fun c -> match items where c with
    | [ i; k ] ->
        let first = number where size i and behind_it = number where (size + 1) k in
        if first >= behind_it then refuse "%s has a cycle without a step" where;
        { first; behind_it; together }
    | _ -> refuse "%s has a cycle that is no range" where) (items where v)

let with_flow (a : Automata.t) where growing l =
  let taken_ = run_of a where l in
  let size = Array.length taken_ in
  let differences = Array.of_list (List.map (fun q -> of_q (rational where q)) (items where (List.assoc "differences" l))) in
  if Array.length differences <> size then refuse "%s has not a difference for each position" where;
  let flows = List.map (fun f ->
    let m = members where [ "from"; "to"; "amount" ] [ "repeated" ] f in
    { low_end = end_of where size (List.assoc "from" m); high_end = end_of where size (List.assoc "to" m);
      amount = of_q (rational where (List.assoc "amount" m)); repeated = optional "repeated" m (truth where) false })
    (items where (List.assoc "flow" l)) in
  { taken_; cycles = optional "cycles" l (cycles_of where size 1) []; differences; flows; crossing = false }

let lower a where j =
  let l = members where ([ "kind"; "D" ] @ bounds @ flow) [ "cycles"; "others" ] j in
  if List.mem_assoc "others" l then not_proved "bounds by all runs that show the same";
  written a (claim where l (rational where (List.assoc "D" l))) where false (with_flow a where false l)
let growth a where j =
  let l = members where ([ "kind"; "pattern" ] @ bounds @ flow) [ "cycles" ] j in
  written a (claim where l zero) where true (with_flow a where true l)

(* The paper's patterns are about differences from -1 to 1.  Each becomes a flow (docs/certificates.md has the table). *)
let one = to_q (1, 1)
let either : claim = { c_low = to_q (-1, 1); c_high = one; c_sens = one; c_D = zero }
let pattern (a : Automata.t) where name j =
  let common = [ "kind"; "pattern"; "run"; "cycles" ] in
  let l = members where (common @ (match name with "leaking-cycle" -> [ "rounds" ] | "disclosing-cycle" -> [] | _ -> [ "path" ])) [] j in
  let taken_ = run_of a where l in
  let size = Array.length taken_ in
  let cycles together = cycles_of where size together (List.assoc "cycles" l) in
  let request cycles flows crossing = { taken_; cycles; differences = Array.make size nought; flows; crossing } in
  let amount = 1, 1 in
  let arc repeated low_end high_end = { low_end; high_end; amount; repeated } in
  let at p = Sample (p, false) in
  let transitions = Array.of_list a.automaton.transitions and states = Array.of_list a.automaton.states in
  let trans p = transitions.(taken_.(p)) in
  let made = match name with
    | "leaking-cycle" ->
        let most = 1000 in
        (match List.map (number where most) (items where (List.assoc "rounds" l)) with
         | [ m; n ] when m < n -> request (cycles (2 * (n - m))) [] true
         | _ -> refuse "%s has rounds that are not two numbers, the second above the first" where)
    | "disclosing-cycle" ->
        let cycles = cycles 1 in
        let c = match cycles with [ c ] -> c | _ -> refuse "%s has not one cycle" where in
        let shown p = List.find_map (function
          | Other -> Some (Second p)
          | Number (x, y) when is_sample x || is_sample y -> Some (at p)
          | _ -> None) (trans p).out in
        let ends = List.filter_map (fun p -> if states.((trans p).src).reads then shown p else None) (List.init (c.behind_it - c.first) (fun i -> c.first + i)) in
        (match ends with
         | e :: _ -> request cycles [ arc true Ground e ] false
         | [] -> refuse "%s has a cycle that shows nothing of an entry" where)
    | _ ->
        let cycles = cycles 1 in
        let path = List.map (number where size) (items where (List.assoc "path" l)) in
        let on_cycle p = List.exists (fun c -> on c p) cycles in
        let rec arcs = function
          | p :: (q :: rest as more) -> (p, q, more) :: arcs more
          | _ -> [] in
        let list = arcs path in
        let count = List.length list in
        if count = 0 then refuse "%s has a path without an edge" where;
        let p1, p2, _ = List.hd list and q1, q2, _ = List.nth list (count - 1) in
        let leaves = on_cycle p1 && p2 < p1 and enters = on_cycle q2 && q1 < q2 in
        let flows = List.mapi (fun k (p, q, _) -> arc ((k = 0 && leaves) || (k = count - 1 && enters)) (at p) (at q)) list in
        let sample p = List.exists (function Number (x, y) -> is_sample x || is_sample y | _ -> false) (trans p).out in
        let flows = match name with
          | "leaking-pair" -> flows
          | _ when enters && sample p1 -> arc false Ground (at p1) :: List.mapi (fun k (p, q, _) -> arc (k = count - 1) (at p) (at q)) list
          | _ -> List.mapi (fun k (p, q, _) -> arc (k = 0) (at p) (at q)) list @ [ arc false (at q2) Ground ] in
        request cycles flows false in
  written a either where true made
