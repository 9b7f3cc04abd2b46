# What pods use is in the Metrics API, for whoever asks it.

@programs
Feature: A HorizontalPodAutoscaler has as many pods as their load needs

  Scenario: A load is shared by ever more pods, and is gone one day
    Given a cluster
    And a Ready Node "a" for system pods only
    And these objects:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 1
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            tolerations: [{key: CriticalAddonsOnly, operator: Exists}]
            containers: [{name: web, image: web, resources: {requests: {cpu: 500m}}}]
      ---
      apiVersion: autoscaling/v2
      kind: HorizontalPodAutoscaler
      metadata: {name: web}
      spec:
        scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
        maxReplicas: 6
        metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
      """
    When the pods of "Deployment/web" use 1 CPU and 64Mi of memory together
    Then this holds within 5m:
      """
      ever: true
      count: {source: api, actor: replicaset-controller, verb: create, resource: pods, code: 201}
      atLeast: 4
      """
    And this holds within 2m:
      """
      ever: true
      count: {source: api, actor: replicaset-controller, verb: create, resource: pods, code: 201}
      atMost: 4
      """
    When each pod of "Deployment/web" uses 10m CPU and 64Mi of memory
    Then "replicaset-controller" has sent "delete" of "pods" 3 times within 10m
