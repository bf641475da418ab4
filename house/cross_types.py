import sys; sys.path.insert(0,'/tmp/g')
from cross import cross
r=sys.argv[1]
print(cross(r,'order',{'By':'SortBy'}))
print(cross(r,'guard',{'Cancel':'CancelFlag','Entered':'EnteredGuard','Work':'CheckedIterator','Checked':'CheckedItems','Counting':'CountingAllocator','Waiting':'WaitNote'}))
print(cross(r,'content',{'Block':'ContentBody'}))
