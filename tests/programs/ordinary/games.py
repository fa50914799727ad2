"""Games and puzzles."""


def tic_tac_toe(np):
    np.random.seed(0)

    def winner(board):
        for p in (1, -1):
            for i in range(3):
                if np.all(board[i, :] == p) or np.all(board[:, i] == p):
                    return p
            if np.all(np.diag(board) == p) or np.all(np.diag(np.fliplr(board)) == p):
                return p
        return 0

    score = {1: 0, -1: 0, 0: 0}
    for game in range(20):
        board = np.zeros((3, 3), dtype=int)
        player = 1
        while True:
            free = np.argwhere(board == 0)
            if len(free) == 0:
                score[0] += 1
                break
            move = free[np.random.randint(len(free))]
            board[move[0], move[1]] = player
            if winner(board) != 0:
                score[player] += 1
                break
            player = -player
    return score, board


def sudoku(np):
    puzzle = np.array([
        [5, 3, 0, 0, 7, 0, 0, 0, 0], [6, 0, 0, 1, 9, 5, 0, 0, 0], [0, 9, 8, 0, 0, 0, 0, 6, 0],
        [8, 0, 0, 0, 6, 0, 0, 0, 3], [4, 0, 6, 8, 0, 3, 0, 9, 1], [7, 0, 0, 0, 2, 0, 8, 5, 6],
        [9, 6, 1, 5, 0, 7, 2, 8, 0], [0, 0, 0, 4, 1, 9, 0, 0, 5], [3, 4, 0, 2, 8, 6, 1, 7, 9],
    ])  # fmt: skip
    tried = 0

    def possible(r, c, n):
        if n in puzzle[r, :] or n in puzzle[:, c]:
            return False
        r0, c0 = 3 * (r // 3), 3 * (c // 3)
        return not np.any(puzzle[r0 : r0 + 3, c0 : c0 + 3] == n)

    def solve():
        nonlocal tried
        for r in range(9):
            for c in range(9):
                if puzzle[r, c] == 0:
                    for n in range(1, 10):
                        tried += 1
                        if possible(r, c, n):
                            puzzle[r, c] = n
                            if solve():
                                return True
                            puzzle[r, c] = 0
                    return False
        return True

    return solve(), puzzle, tried, puzzle.sum(axis=0)


def n_queens(np):
    n = 7
    board = np.zeros((n, n), dtype=int)
    solutions = []

    def safe(row, col):
        for i in range(row):
            for j in range(n):
                if board[i, j] == 1 and (j == col or abs(row - i) == abs(col - j)):
                    return False
        return True

    def place(row):
        if row == n:
            solutions.append(board.argmax(axis=1))
            return
        for col in range(n):
            if safe(row, col):
                board[row, col] = 1
                place(row + 1)
                board[row, col] = 0

    place(0)
    return np.array(solutions)


def slide_2048(np):
    np.random.seed(2048)

    def slide(row):
        tiles = [v for v in row if v != 0]
        out = []
        gained = 0
        while tiles:
            if len(tiles) > 1 and tiles[0] == tiles[1]:
                out.append(2 * tiles[0])
                gained += 2 * tiles[0]
                tiles = tiles[2:]
            else:
                out.append(tiles[0])
                tiles = tiles[1:]
        return np.array(out + [0] * (4 - len(out))), gained

    scores, highest = [], 0
    for game in range(8):
        board = np.zeros((4, 4), dtype=int)
        score = 0
        for move in range(150):
            empty = list(zip(*np.where(board == 0)))
            if not empty:
                break
            r, c = empty[np.random.randint(len(empty))]
            board[r, c] = 2 if np.random.rand() < 0.9 else 4
            turned = np.rot90(board, move % 4)
            new = np.zeros_like(turned)
            for i in range(4):
                new[i], gained = slide(turned[i])
                score += gained
            board = np.rot90(new, -(move % 4)).copy()
        scores.append(int(score))
        highest = max(highest, board.max())
    return board, scores, highest


def connect_four(np):
    board = np.zeros((6, 7), dtype=int)
    np.random.seed(44)

    def drop(col, piece):
        for r in range(6):
            if board[r][col] == 0:
                board[r][col] = piece
                return r

    def wins(piece):
        for c in range(4):
            for r in range(6):
                if all(board[r][c + k] == piece for k in range(4)):
                    return True
        for c in range(7):
            for r in range(3):
                if all(board[r + k][c] == piece for k in range(4)):
                    return True
        for c in range(4):
            for r in range(3):
                if all(board[r + k][c + k] == piece for k in range(4)):
                    return True
                if all(board[r + 3 - k][c + k] == piece for k in range(4)):
                    return True
        return False

    results = []
    for game in range(12):
        board[:] = 0
        turn = 0
        while not np.all(board[5] != 0):
            col = np.random.choice(np.where(board[5] == 0)[0])
            drop(col, turn + 1)
            if wins(turn + 1):
                break
            turn = 1 - turn
        results.append((turn + 1, int(np.count_nonzero(board))))
    return results, np.flip(board, 0)
